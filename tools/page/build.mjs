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
};

// Shaders of materials, and pieces of shaders, that nothing on the page uses.
const LEFT_OUT =
  /ShaderLib\/(background|backgroundCube|cube|equirect|linedashed|meshlambert|meshmatcap|meshphong|meshtoon|sprite|distanceRGBA|distance|vsm)\.glsl|ShaderChunk\/(alphahash|aomap|batching|bsdfs|bumpmap|clearcoat|cube_uv|displacementmap|emissivemap|envmap|gradientmap|iridescence|lightmap|lightprobes|lights_lambert|lights_phong|lights_toon|morph|normalmap_pars|skin|transmission)\w*\.glsl/;

function minifiedShader(text) {
  return text
    .replace(/\/\*[^]*?\*\//g, "")
    .replace(/\/\/.*$/gm, "")
    .replace(/[ \t]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{2,}/g, "\n")
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
