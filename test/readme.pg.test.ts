// Every example of the README that can run is run, and prints what the README shows.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SHOP_SCHEMA } from '../src/demo/schema.ts';
import { eventText, SHOP_SCRIPT } from '../src/demo/workload.ts';
import { createDatabase, sharedServer, type TestDatabase } from './support/server.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');

interface Recipe {
  readonly title: string;
  readonly command: string;
  readonly output: string;
}

/** A sentence, a block of shell with jq in it, and a block of what it prints. */
const RECIPE =
  /\n([^\n]+):\n\n```sh\n(pgtail [^\n]*\| jq [^\n]*)\n```\n```(?:json|text)\n([\s\S]*?)```/g;

const recipes: readonly Recipe[] = [...readme.matchAll(RECIPE)].map(
  ([, title, command, output]) => ({ title: title!, command: command!, output: output! }),
);

const hasJq = spawnSync('jq', ['--version']).status === 0;

function helpOf(command: string): string {
  const args = ['bin/pgtail.js', ...command.split(' ').filter((word) => word !== ''), '--help'];
  return String(spawnSync(process.execPath, args, { cwd: root }).stdout);
}

describe('the README', () => {
  it('has at least five recipes for jq', () => {
    expect(recipes.length).toBeGreaterThanOrEqual(5);
  });

  it('names every option of --help', () => {
    const options = helpOf('').match(/--[a-z][a-z-]*/g) ?? [];
    expect(options.length).toBeGreaterThan(15);
    for (const option of options) expect(readme).toContain(option);
  });

  it('names only options that exist', () => {
    const commands = [
      '',
      'demo',
      'doctor',
      'identity',
      'slots',
      'slots create',
      'slots drop',
      'slots advance',
    ];
    const help = commands.map(helpOf).join('');
    const calls = readme.match(/^(?:node bin\/pgtail\.js|pgtail) .*$/gm) ?? [];
    const options = calls.flatMap((call) => call.split('|')[0]!.match(/--[a-z][a-z-]*/g) ?? []);
    expect(options.length).toBeGreaterThan(10);
    for (const option of options) expect(help).toContain(option);
  });
});

const unlessThereIsNoJq = hasJq ? '' : ' (skipped: jq is not installed)';

describe.skipIf(!hasJq)(`a recipe of the README${unlessThereIsNoJq}`, () => {
  let database: TestDatabase;
  let programs: string;

  beforeAll(async () => {
    database = await createDatabase();
    await loadShop(database);
    await database.sql(`
      SELECT pg_copy_logical_replication_slot('audit', 'recipes');
      SELECT pg_drop_replication_slot('audit')`);
    programs = mkdtempSync(join(tmpdir(), 'pgtail-recipes-'));
    const program = `#!/bin/sh\nexec ${process.execPath} ${root}bin/pgtail.js "$@"\n`;
    writeFileSync(join(programs, 'pgtail'), program, { mode: 0o755 });
  });

  afterAll(async () => {
    await database.drop();
    rmSync(programs, { recursive: true });
  });

  it.each(recipes)('prints what the README says: $title', async ({ command, output }) => {
    const copied = await database.query(
      `SELECT pg_copy_logical_replication_slot('recipes', 'audit')`,
    );
    expect(copied).toHaveLength(1);
    const { host, port, user } = sharedServer();
    const result = spawnSync('sh', ['-c', command], {
      encoding: 'utf8',
      env: {
        ...process.env,
        PATH: `${programs}${delimiter}${process.env.PATH}`,
        PGHOST: host,
        PGPORT: String(port),
        PGUSER: user,
        PGDATABASE: database.name,
      },
    });
    await database.query(`SELECT pg_drop_replication_slot('audit')`);
    expect(result.stdout).toBe(output);
  });
});

const SHOP_SQL = `-- The tables of \`pgtail demo\`, and its changes behind a slot that is made before them. For an empty
-- database of a server with wal_level = logical: psql -d NAME -f docs/shop.sql
-- When done: pgtail slots drop audit

BEGIN;
${SHOP_SCHEMA}COMMIT;

-- a slot that has all that follows
SELECT pg_create_logical_replication_slot('audit', 'pgoutput');

${SHOP_SCRIPT.map((event) => `-- ${event.name}\n${eventText(event)}\n`).join('\n')}`;

const SHOP_FILE = join(root, 'docs', 'shop.sql');

describe('docs/shop.sql', () => {
  it('has the tables and changes of the demo', async () => {
    await expect(SHOP_SQL).toMatchFileSnapshot(SHOP_FILE);
  });
});

/** As psql does it: sent as a whole, what is outside of a block would become part of the next one. */
async function loadShop(database: TestDatabase): Promise<void> {
  for (const paragraph of readFileSync(SHOP_FILE, 'utf8').split(/\n\n(?=-- [a-z]|BEGIN)/)) {
    await database.sql(paragraph);
  }
}

/** A block of shell with an inspection command in it, and a block of what it prints. */
const INSPECTION = /\n```sh\npgtail (identity [^\n]*)\n```\n```text\n([\s\S]*?)```/g;

describe('an inspection in the README', () => {
  const inspections = [...readme.matchAll(INSPECTION)].map(([, command, output]) => ({
    command: command!,
    output: output!,
  }));
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createDatabase();
    await database.sql(SHOP_SCHEMA);
    for (const event of SHOP_SCRIPT) await database.sql(eventText(event));
    await database.sql('ANALYZE');
  });

  afterAll(async () => {
    await database.drop();
  });

  it('is there', () => {
    expect(inspections.length).toBeGreaterThan(0);
  });

  it.each(inspections)('prints what the README says: $command', ({ command, output }) => {
    const args = [...command.split(' '), '--format', 'pretty', ...database.options];
    const { stdout } = spawnSync(process.execPath, ['bin/pgtail.js', ...args], {
      cwd: root,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, COLUMNS: '118' },
    });
    const heading = /^PostgreSQL \S+, database \S+:/;
    expect(stdout.replace(heading, '')).toBe(output.replace(heading, ''));
  });
});

it('shows files that exist', () => {
  for (const [, path] of readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)) {
    expect(existsSync(join(root, path!))).toBe(true);
  }
});
