// Builds dist/ from src/: the program with its dependencies, in chunks that are loaded when a command
// needs them. CommonJS: Node starts it 6 to 8 ms sooner than ES modules, and reads its parts at once.

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
const target = 'node20.19';

/** Commander loads it for programs of its own that stand for a command, which pgtail has not: 3 ms. */
const withoutChildProcess = {
  name: 'commander without child_process',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      importer.includes('/commander/') ? { path: 'none', namespace: 'nothing' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'nothing' }, () => ({ contents: '' }));
  },
};

const dist = `${root}/dist`;
const ENTRY = 'main.cjs';
const made = mkdtempSync(`${dist}.new-`);
try {
  await buildInto(made);
  replaceFiles(made);
} finally {
  rmSync(made, { recursive: true, force: true });
}

async function buildInto(folder) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['src/main.ts'],
    outdir: folder,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target,
    external: ['pg-native'],
    plugins: [withoutChildProcess],
    define: {
      PGTAIL_VERSION: JSON.stringify(version),
      'import.meta.url': '__filename',
      // pg looks at it to see whether it runs at Cloudflare, and Node 20 loads all of fetch(): 35 ms
      Response: 'undefined',
    },
    metafile: true,
  });
  for (const file of Object.keys(metafile.outputs)) await toCommonJs(`${root}/${file}`);
  writeFileSync(`${folder}/LICENSES.txt`, licences(Object.keys(metafile.inputs)));
}

/**
 * A pgtail that is started meanwhile finds all of the program before or all of the new one: the other
 * chunks have names that change with what is in them, and the entry that names them comes last.
 */
function replaceFiles(folder) {
  const names = readdirSync(folder);
  mkdirSync(dist, { recursive: true });
  for (const name of [...names.filter((each) => each !== ENTRY), ENTRY]) {
    renameSync(`${folder}/${name}`, `${dist}/${name}`);
  }
  for (const name of readdirSync(dist)) {
    if (!names.includes(name)) rmSync(`${dist}/${name}`, { recursive: true });
  }
}

/** esbuild splits nothing but ES modules: each chunk is translated by itself. */
async function toCommonJs(path) {
  const { code } = await transform(withPlainImports(readFileSync(path, 'utf8')), {
    format: 'cjs',
    platform: 'node',
    target,
    supported: { 'dynamic-import': false }, // require, which loads a chunk at once
    minifyWhitespace: true, // comments are not ASCII: V8 would keep two bytes for each character
    lineLimit: 120,
  });
  writeFileSync(path, code);
}

/**
 * What one chunk uses of another becomes a constant: esbuild would look each up again at every use,
 * which costs a fifth of a tail's CPU time. No chunk exports what changes after it was loaded.
 */
function withPlainImports(source) {
  return source.replaceAll(
    /^import \{([^}]*)\} from "(\.\/[^"]*)";$/gm,
    (_, names, chunk) => `const {${names.replaceAll(' as ', ': ')}} = require("${chunk}");`,
  );
}

/** Of every package that is in the bundle. */
function licences(inputs) {
  const folders = inputs.map((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  const packages = [...new Set(folders)].filter((folder) => folder !== undefined).sort();
  return packages.map((folder) => licence(`${root}/${folder}`)).join('\n\n');
}

function licence(folder) {
  const { name, version, license, author } = JSON.parse(
    readFileSync(`${folder}/package.json`, 'utf8'),
  );
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const by = typeof author === 'object' ? author.name : author;
  const text =
    file === undefined ? `${license}, by ${by}` : readFileSync(`${folder}/${file}`, 'utf8');
  return `${name} ${version}\n\n${text.trim()}\n`;
}
