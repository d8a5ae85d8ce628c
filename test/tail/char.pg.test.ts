// "char" values beyond ASCII: the same on every server, and always UTF-8.

import { isUtf8 } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { Publisher } from '../support/publisher.ts';
import { sharedServer } from '../support/server.ts';
import { linesOf } from '../support/tail.ts';

const SCHEMA = `
  CREATE DOMAIN grade AS "char";
  CREATE TYPE mark AS (grade grade, note text);
  CREATE TABLE marks (id int PRIMARY KEY, code "char", codes "char"[], grade grade, mark mark);`;

const hasBinary = sharedServer().major >= 14;

/** The first byte of é, which is what a cast to "char" leaves of it. */
const BYTE = `'é'::text::"char"`;
const ROW = `INSERT INTO marks VALUES (1, ${BYTE}, ARRAY['a', ${BYTE}], ${BYTE}, ROW(${BYTE}, 'é'))`;
const SHOWN = '\\303';

/** A replacement character would be what is left of a byte that is not UTF-8. */
function expectText(stdout: string): void {
  expect(isUtf8(Buffer.from(stdout))).toBe(true);
  expect(stdout).not.toContain('\ufffd');
}

describe.concurrent('a "char" beyond ASCII', () => {
  it.each<{ options: readonly string[] }>([
    { options: [] },
    { options: hasBinary ? ['--binary'] : [] },
    { options: ['--timezone', 'Japan'] },
  ])('is printed in octal digits wherever it stands, with $options', async ({ options }) => {
    await using publisher = await Publisher.open({ schema: SCHEMA });
    await publisher.commit(ROW);
    const { code, stdout } = await publisher.run(publisher.slot, options);
    expect(code).toBe(0);
    expectText(stdout);
    expect(linesOf(stdout).find(({ op }) => op === 'insert')?.new).toEqual({
      id: 1,
      code: SHOWN,
      codes: ['a', SHOWN],
      grade: SHOWN,
      mark: { grade: SHOWN, note: 'é' },
    });
  });

  it('is the same as raw text, and for people', async () => {
    await using publisher = await Publisher.open({ schema: SCHEMA });
    const pretty = `${publisher.slot}_pretty`;
    await publisher.createSlot(pretty);
    await publisher.commit(ROW);
    const raw = await publisher.run(publisher.slot, ['--raw-values']);
    expectText(raw.stdout);
    expect(linesOf(raw.stdout).find(({ op }) => op === 'insert')?.new).toEqual({
      id: '1',
      code: SHOWN,
      codes: '{a,"\\\\303"}',
      grade: SHOWN,
      mark: '("\\\\303",é)',
    });
    const shown = await publisher.run(pretty, ['--format', 'pretty']);
    expectText(shown.stdout);
    expect(shown.stdout).toMatch(/code \\303 .*codes \{a,"\\\\303"\} .*grade \\303$/m);
  });

  it('is left alone by --encoding UTF8', async () => {
    await using publisher = await Publisher.open({ schema: SCHEMA });
    await publisher.commit(`INSERT INTO marks (id, code, grade) VALUES (1, ${BYTE}, ${BYTE})`);
    const { code, stdout } = await publisher.run(publisher.slot, ['--encoding', 'UTF8']);
    expect(code).toBe(0);
    expect(linesOf(stdout).find(({ op }) => op === 'insert')?.new).toMatchObject({
      code: SHOWN,
      grade: SHOWN,
    });
  });
});
