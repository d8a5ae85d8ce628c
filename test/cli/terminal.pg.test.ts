// On a terminal: what it receives holds no control character from data, and colour as asked.

import { describe, expect, it } from 'vitest';
import { runPgtail } from '../support/pgtail.ts';
import { runOnTerminal } from '../support/pty.ts';
import { Shop } from '../support/tail.ts';

/** Escape sequences, title changes, C1 controls, bidi overrides, bells, returns and newlines. */
const HOSTILE =
  '\x1b[2J\x1b]0;owned\x07\x1b]8;;http://evil.example\x1b\\\x9b31m\x9d0;x\x9c\u202egnp.exe\u2066' +
  '\b\b\x7f\r\n\v\f\x0e\x05\u200b\u2028\u061c\ufeff';

const SGR = /\x1b\[[0-9;]*m/g;
/** Anything that moves the cursor, changes the terminal, or deceives the eye. */
const DANGEROUS = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Everything but our own line ends and colours. */
function dangerousIn(screen: string): string[] {
  const plain = screen.replaceAll('\r\n', '').replaceAll(SGR, '');
  return [...plain].filter((char) => DANGEROUS.test(char)).map((char) => JSON.stringify(char));
}

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const name = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** A table whose names and values are all hostile, changed in every way. */
async function hostileShop(): Promise<Shop> {
  const shop = await Shop.open();
  const table = name(`t${HOSTILE.slice(0, 30)}`);
  const column = name(`c${HOSTILE.slice(20)}`);
  const value = literal(HOSTILE);
  await shop.database.sql(`
    CREATE SCHEMA ${name(`s${HOSTILE.slice(0, 20)}`)};
    CREATE TYPE ${name(`e${HOSTILE.slice(0, 20)}`)} AS ENUM (${literal(HOSTILE.slice(0, 20))});
    CREATE TABLE ${table} (id int PRIMARY KEY, ${column} text, doc jsonb, tags text[],
      kind ${name(`e${HOSTILE.slice(0, 20)}`)});
    ALTER TABLE ${table} REPLICA IDENTITY FULL`);
  const doc = literal(JSON.stringify({ [HOSTILE]: HOSTILE }));
  await shop.database.sql(`
    INSERT INTO ${table} VALUES
      (1, ${value}, ${doc}, ARRAY[${value}], ${literal(HOSTILE.slice(0, 20))});
    UPDATE ${table} SET ${column} = ${column} || 'x';
    ALTER TABLE ${table} RENAME TO ${name(`u${HOSTILE.slice(0, 30)}`)};
    UPDATE ${name(`u${HOSTILE.slice(0, 30)}`)} SET id = 2;
    DELETE FROM ${name(`u${HOSTILE.slice(0, 30)}`)};
    TRUNCATE ${name(`u${HOSTILE.slice(0, 30)}`)};
    SELECT pg_logical_emit_message(true, ${value}, ${value})`);
  return shop;
}

describe.concurrent('hostile data', () => {
  it.each([40, 100, 400])('reaches no terminal of %d columns as it is', async (columns) => {
    await using shop = await hostileShop();
    const args = [...shop.args, '--no-follow', '--verbose'];
    const { code, screen } = await runOnTerminal(args, { columns });
    expect(code).toBe(0);
    expect(dangerousIn(screen)).toEqual([]);
    expect(screen).toContain('\\x1b');
    if (columns === 400) expect(screen).toContain('\\u{202e}');
    for (const sign of ['+', '~', '-', '!', '@']) expect(screen).toContain(sign);
  });

  it('in names of publications, databases and hosts stays out of errors', async () => {
    await using shop = await Shop.open();
    const odd = HOSTILE.slice(0, 40);
    await shop.database.sql(`CREATE PUBLICATION ${name(odd)}`);
    const base = shop.database.options.slice(0, -2);
    const database = ['-d', shop.database.name];
    const runs = [
      [...base, ...database],
      [...base, ...database, '-P', `x${HOSTILE}`],
      [...base, '-d', HOSTILE],
      ['-h', `/nonexistent${HOSTILE}`, '-d', 'shop'],
      [...base, '-d', `x${HOSTILE}=1`],
      ['--slot', HOSTILE],
      [`--${HOSTILE}`],
      ['-p', HOSTILE],
      ['--format', HOSTILE],
    ];
    for (const args of runs) {
      const { code, screen } = await runOnTerminal(args);
      expect(code).not.toBe(0);
      expect(screen).toMatch(/^pgtail: /);
      expect({ args, found: dangerousIn(screen) }).toEqual({ args, found: [] });
    }
  });

  it('stays out of standard error of a pipe too', async () => {
    const { stderr } = await runPgtail(['-h', '/nonexistent', '-d', 'shop', '-p', `1${HOSTILE}`]);
    expect(dangerousIn(stderr.replaceAll('\n', ''))).toEqual([]);
  });
});

describe.concurrent('colour', () => {
  const coloured = async (
    env: Readonly<Record<string, string>>,
    ...options: readonly string[]
  ): Promise<boolean> => {
    await using shop = await Shop.open();
    await shop.order(1);
    const args = [...shop.args, '--no-follow', ...options];
    const { code, screen } = await runOnTerminal(args, { env });
    expect(code).toBe(0);
    expect(screen).toContain('order 1');
    return screen.includes('\x1b');
  };

  it.each([
    ['is used on a terminal', {}, [], true],
    ['is not used with NO_COLOR', { NO_COLOR: '1' }, [], false],
    ['is used with an empty NO_COLOR', { NO_COLOR: '' }, [], true],
    ['is not used on a dumb terminal', { TERM: 'dumb' }, [], false],
    ['is not used with --color never', {}, ['--color', 'never'], false],
    [
      'is used with --color always, whatever NO_COLOR',
      { NO_COLOR: '1' },
      ['--color', 'always'],
      true,
    ],
    ['is not used with FORCE_COLOR=0', { FORCE_COLOR: '0' }, [], false],
  ] as const)('%s', async (_name, env, options, expected) => {
    expect(await coloured(env, ...options)).toBe(expected);
  });

  it.each([
    [{}, [], false],
    [{ FORCE_COLOR: '1' }, [], true],
    [{}, ['--color', 'always'], true],
  ] as const)('in a pretty pipe with %j %j: %s', async (env, options, expected) => {
    await using shop = await Shop.open();
    await shop.order(1);
    const args = [...shop.args, '--no-follow', '--format', 'pretty', ...options];
    const { stdout } = await runPgtail(args, { env });
    expect(stdout).toContain('order 1');
    expect(stdout.includes('\x1b')).toBe(expected);
  });

  it('never stands in NDJSON, not even when forced', async () => {
    await using shop = await Shop.open();
    await shop.order(1);
    const args = [...shop.args, '--no-follow', '--color', 'always'];
    const { stdout } = await runPgtail(args, { env: { FORCE_COLOR: '1' } });
    expect(stdout).toMatch(/^\{"op":"begin"/);
    expect(stdout).not.toContain('\x1b');
  });
});

it.concurrent('says what is read before the first row', async () => {
  await using shop = await Shop.open();
  await shop.order(1);
  const { screen } = await runOnTerminal([...shop.args, '--no-follow']);
  expect(screen).toMatch(/^pgtail: publication "shop"/);
});

describe.concurrent('the automatic format', () => {
  it('is pretty on a terminal and NDJSON elsewhere', async () => {
    await using shop = await Shop.open();
    await shop.order(1);
    const args = [...shop.args, '--limit', '1'];
    const { screen } = await runOnTerminal(args);
    expect(screen).toMatch(/\+.*orders.*id.*1/);
    expect(screen).not.toContain('{"op"');
    await shop.order(2);
    expect((await runPgtail(args)).stdout).toMatch(/^\{"op":"begin"/);
  });

  it('is NDJSON on a terminal if asked for', async () => {
    await using shop = await Shop.open();
    await shop.order(1);
    const { screen } = await runOnTerminal([...shop.args, '--limit', '1', '--format', 'ndjson']);
    expect(screen).toContain('{"op":"insert"');
  });
});

it.concurrent.each([10, 40, 80])('keeps to a terminal of %d columns, or to 40', async (columns) => {
  await using shop = await Shop.open();
  await shop.database.sql(`INSERT INTO orders VALUES (1, repeat('long 漢字 ', 200))`);
  const args = [...shop.args, '--no-follow', '-q'];
  const { code, screen } = await runOnTerminal(args, { columns });
  expect(code).toBe(0);
  const widths = screen.split('\r\n').map((line) => columnsOf(line.replaceAll(SGR, '')));
  expect(Math.max(...widths)).toBeLessThanOrEqual(Math.max(columns, 40));
});

const columnsOf = (line: string): number =>
  [...line].reduce((sum, char) => sum + (/\p{Script=Han}/u.test(char) ? 2 : 1), 0);
