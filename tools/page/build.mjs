// Builds src/linkwork/view/page/three.min.js: the part of three.js that the page uses, bundled and
// minified, with its licence, and the file's SHA-256 beside it. Run: npm ci && node build.mjs
//
// What the page never draws is left out of the sources on the way: virtual reality, environment
// maps, and the shaders of materials and effects that it has no use for.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const three = join(here, "node_modules", "three");
const out = process.argv[2] ?? join(here, "..", "..", "src", "linkwork", "view", "page");

const REPLACED = {
  "renderers/webxr/WebXRManager.js": `
    const nothing = () => {};
    export class WebXRManager {
      enabled = false; isPresenting = false; cameraAutoUpdate = false;
      addEventListener = nothing; removeEventListener = nothing; dispose = nothing;
      setAnimationLoop = nothing; getCamera = nothing; hasDepthSensing = () => false;
      getDepthSensingMesh = () => null; getEnvironmentBlendMode = () => "opaque";
    }`,
  "renderers/webgl/WebGLEnvironments.js": `
    export function WebGLEnvironments() {
      return { get: (texture) => texture ?? null, dispose() {} };
    }`,
  "renderers/webgl/WebGLOutput.js": "export class WebGLOutput {}",
  "renderers/webgl/WebGLMorphtargets.js":
    "export function WebGLMorphtargets() { return { update() {} }; }",
  "renderers/webgl/WebGLUniformsGroups.js":
    "export function WebGLUniformsGroups() { return { bind() {}, update() {}, dispose() {} }; }",
};

// Shaders of materials, and pieces of shaders, that nothing on the page uses.
const LEFT_OUT =
  /ShaderLib\/(background|backgroundCube|cube|equirect|linedashed|meshlambert|meshmatcap|meshphong|meshtoon|sprite|distanceRGBA|distance|vsm)\.glsl|ShaderChunk\/(alphahash|aomap|batching|bsdfs|bumpmap|clearcoat|cube_uv|displacementmap|emissivemap|envmap|gradientmap|iridescence|lightmap|lightprobes|lights_lambert|lights_phong|lights_toon|morph|normalmap_pars|skin|tonemapping|transmission)\w*\.glsl/;

// What is never defined in a shader of the page: what depends on it goes.
const UNDEFINED = new Set([
  "USE_ALPHAHASH", "USE_ALPHAMAP", "USE_ANISOTROPY", "USE_AOMAP", "USE_BATCHING", "USE_BUMPMAP",
  "USE_CLEARCOAT", "USE_DISPERSION", "USE_DISPLACEMENTMAP", "USE_EMISSIVEMAP", "USE_ENVMAP",
  "USE_FOG", "USE_IRIDESCENCE", "USE_LIGHT_PROBES", "USE_LIGHT_PROBES_GRID", "USE_LIGHTMAP",
  "USE_METALNESSMAP", "USE_MORPHCOLORS", "USE_MORPHNORMALS", "USE_MORPHTARGETS",
  "USE_NORMALMAP", "USE_NORMALMAP_OBJECTSPACE", "USE_NORMALMAP_TANGENTSPACE",
  "USE_ROUGHNESSMAP", "USE_SHEEN", "USE_SKINNING", "USE_SPECULARMAP", "USE_TANGENT",
  "USE_TRANSMISSION",
]);
const NONE = /^#if NUM_(RECT_AREA|SPOT|POINT)_LIGHT\w* ?> ?0$|^#if NUM_CLIPPING_PLANES ?> ?0$/;

/** A shader without the branches of what is never defined. */
function withoutUnused(text) {
  const kept = [], open = []; // of each condition: "gone" (a branch), "kept" (the other), "asked"
  for (const line of text.split("\n")) {
    const [, word, name] = line.match(/^#(if|ifdef|ifndef|elif|else|endif)\b ?(\w*)/) ?? [];
    const gone = open.includes("gone");
    if (word === "if" || word === "ifdef" || word === "ifndef") {
      const never = NONE.test(line) || (word === "ifdef" && UNDEFINED.has(name));
      const always = word === "ifndef" && UNDEFINED.has(name);
      open.push(gone ? "asked" : never ? "gone" : always ? "kept" : "asked");
      if (!gone && open.at(-1) === "asked") kept.push(line);
      continue;
    }
    if (word === "elif" && open.at(-1) === "kept") throw new Error(`a branch that is never taken: ${line}`);
    if (word === "elif" && open.at(-1) === "gone") {
      open.pop();
      open.push("asked");
      if (!open.includes("gone")) kept.push(line.replace("#elif", "#if"));
      continue;
    }
    if (word === "else" && ["gone", "kept"].includes(open.at(-1))) {
      open.push(open.pop() === "gone" ? "kept" : "gone");
      continue;
    }
    if (word === "endif") {
      const state = open.pop();
      if (state === "asked" && !open.includes("gone")) kept.push(line);
      continue;
    }
    if (!gone) kept.push(line);
  }
  return kept.join("\n");
}

function minifiedShader(text) {
  const plain = text
    .replace(/\/\*[^]*?\*\//g, "")
    .replace(/\/\/.*$/gm, "")
    .replace(/[ \t]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{2,}/g, "\n")
    .replace(/^ /gm, "");
  return withoutUnused(plain)
    .replace(/^(?!#).*$/gm, (line) => line.replace(/ ?([-+*/=<>(){}[\],;:?!&|^%]) ?/g, "$1"))
    .trim() + "\n";
}

const trimmed = {
  name: "trimmed",
  setup(builder) {
    builder.onResolve({ filter: /^three$/ }, () => ({ path: join(three, "src", "Three.js"), sideEffects: false }));
    builder.onLoad({ filter: /three\/src\/.*\.js$/ }, ({ path }) => {
      const name = path.slice(path.lastIndexOf("three/src/") + 10);
      if (name in REPLACED) return { contents: REPLACED[name] };
      const text = readFileSync(path, "utf8");
      if (!name.endsWith(".glsl.js")) return { contents: text };
      const gone = LEFT_OUT.test(name);
      return {
        contents: text.replace(/\/\* glsl \*\/\s*`([^]*?)`/g, (_, shader) =>
          JSON.stringify(gone ? "" : minifiedShader(shader))),
      };
    });
  },
};

const { version } = JSON.parse(readFileSync(join(three, "package.json"), "utf8"));
const licence = readFileSync(join(three, "LICENSE"), "utf8").trim();
const result = await build({
  entryPoints: [join(here, "three.js")],
  bundle: true,
  minify: true,
  format: "iife",
  globalName: "THREE",
  target: "es2020",
  legalComments: "none",
  charset: "ascii",
  banner: { js: `/*! three.js ${version}, the part that Linkwork's page uses (tools/page)\n\n${licence}\n*/` },
  plugins: [trimmed],
  metafile: true,
  write: false,
});
const bytes = result.outputFiles[0].contents;
const sum = createHash("sha256").update(bytes).digest("hex");
mkdirSync(out, { recursive: true });
writeFileSync(join(out, "three.min.js"), bytes);
writeFileSync(join(out, "three.min.js.sha256"), `${sum}  three.min.js\n`);
process.stdout.write(`three.min.js: ${bytes.length} bytes, ${sum}\n`);
if (process.argv.includes("--parts")) {
  const inputs = Object.values(result.metafile.outputs)[0].inputs;
  for (const [path, { bytesInOutput }] of Object.entries(inputs)
    .sort((a, b) => b[1].bytesInOutput - a[1].bytesInOutput).slice(0, 60))
    process.stdout.write(`${bytesInOutput} ${path}\n`);
}
