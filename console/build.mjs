// Bundles console/src into duetime/console/static: hashed names, each file also as .gz and .br.
// The vendor modules in src/vendor are bundled first, so that the source runs unbuilt, too.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, '../duetime/console/static'));
const common = {
  absWorkingDir: here,
  bundle: true,
  charset: 'utf8',
  format: 'esm',
  legalComments: 'none',
  minify: true,
  target: ['chrome114', 'firefox115', 'safari16.4'],
};

async function vendor() {
  await build({ ...common, entryPoints: ['vendor/preact.js', 'vendor/dagre.js'], outdir: 'src/vendor' });
}

/** Bundles the entry points of `vendor/` themselves, so that what the console does not use is left out. */
const unbundled = {
  name: 'unbundled',
  setup({ onResolve }) {
    onResolve({ filter: /\/vendor\/\w+\.js$/ }, ({ path }) => ({ path: join(here, 'vendor', basename(path)) }));
  },
};

async function bundle() {
  const result = await build({
    ...common,
    entryPoints: [
      { in: 'src/app.js', out: 'app' },
      { in: 'src/boot.js', out: 'boot' },
      { in: 'src/style/app.css', out: 'app' },
    ],
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    metafile: true,
    outdir: out,
    plugins: [unbundled],
    splitting: true,
    write: false,
  });
  const names = Object.fromEntries(
    Object.entries(result.metafile.outputs)
      .filter(([, { entryPoint }]) => entryPoint?.startsWith('src/') && /\/(app|boot)\.(js|css)$/.test(entryPoint))
      .map(([path, { entryPoint }]) => [relative('src', entryPoint), basename(path)]),
  );
  const preloads = shared(result.metafile, names['app.js']);
  return [
    ...result.outputFiles.map(({ path, contents }) => [basename(path), Buffer.from(contents)]),
    ['index.html', Buffer.from(page(names, preloads))],
  ];
}

/** Returns the chunks that the application imports at its start. */
function shared({ outputs }, app) {
  const [, entry] = Object.entries(outputs).find(([path]) => basename(path) === app);
  return entry.imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => basename(path));
}

function page(names, preloads) {
  const links = preloads.map((name) => `<link rel="modulepreload" href="/static/${name}">\n`).join('');
  return readFileSync(join(here, 'src/index.html'), 'utf8')
    .replace(/\/static\/(style\/app\.css|boot\.js|app\.js)/g, (_, path) => `/static/${names[path]}`)
    .replace('</head>', `${links}</head>`);
}

function write(files) {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  for (const [name, bytes] of files.sort(([a], [b]) => (a < b ? -1 : 1))) {
    const zipped = gzipSync(bytes, { level: 9 });
    writeFileSync(join(out, name), bytes);
    writeFileSync(join(out, `${name}.gz`), zipped);
    writeFileSync(join(out, `${name}.br`), brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }));
    console.log(`${name.padEnd(28)} ${String(bytes.length).padStart(8)} ${String(zipped.length).padStart(8)} gz`);
  }
}

await vendor();
write(await bundle());
