// What the page uses of three.js; build.mjs makes src/linkwork/view/page/three.min.js from it.
export {
  Box3, BoxGeometry, BufferAttribute, BufferGeometry, Color, CylinderGeometry,
  DirectionalLight, DoubleSide, Group, HemisphereLight, InstancedMesh, Line,
  LineBasicMaterial, Matrix4, Mesh, MeshBasicMaterial,
  MeshStandardMaterial, Object3D, PCFShadowMap, PerspectiveCamera, PlaneGeometry, Quaternion, Raycaster, RepeatWrapping, Scene, ShaderMaterial, ShadowMaterial, Sphere,
  SphereGeometry, SRGBColorSpace, Texture, TorusGeometry, Vector2, Vector3, WebGLRenderer,
} from "three";
export { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
export { TransformControls } from "three/examples/jsm/controls/TransformControls.js";
