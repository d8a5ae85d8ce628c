// What is said when the stream starts: all that is worth knowing, and nothing that is not true.

import { describe, expect, it } from 'vitest';
import { formatLsn } from '../../src/lsn.ts';
import { runPgtail } from '../support/pgtail.ts';
import { sharedServer } from '../support/server.ts';
import { insertedIds, lsnOf, Shop } from '../support/tail.ts';

const { major } = sharedServer();

/** The lines on standard error of a run to its end, but for what its slot costs. */
async function noticesOf(...args: readonly string[]): Promise<string[]> {
  const { code, stderr } = await runPgtail([...args, '--no-follow']);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const lines = stderr.split('\n').slice(0, -1);
  return lines.filter((line) => !/^pgtail: slot .+ stays, and keeps /.test(line));
}

/** From and to where, as `-v` has it. */
function positionsIn(lines: readonly string[]): readonly bigint[] {
  const line = lines.find((each) => each.includes("the server's WAL ends at"));
  return (line?.match(/[0-9A-F]+\/[0-9A-F]+/g) ?? []).slice(0, 2).map(lsnOf);
}

describe.concurrent('a slot that is made at the start', () => {
  it('is not said to be ahead of the WAL that making it has written', async () => {
    await using shop = await Shop.open();
    const created = [...shop.database.options, '-P', 'shop', '-S', `${shop.slot}_2`];
    expect(await noticesOf(...created, '--create-slot')).toEqual([
      expect.stringMatching(/^pgtail: publication "shop", slot "\w+_2", just created: /),
    ]);
    expect(await noticesOf(...shop.database.options, '-P', 'shop')).toEqual([
      expect.stringMatching(/^pgtail: publication "shop", from now on \(temporary slot\): /),
    ]);
    await shop.database.query('SELECT pg_drop_replication_slot($1)', [`${shop.slot}_2`]);
  });

  it('begins no later than where -v says that the WAL ends', async () => {
    await using shop = await Shop.open();
    const lines = await noticesOf(...shop.database.options, '-P', 'shop', '-v');
    const [from, end] = positionsIn(lines);
    expect(from).toBeLessThanOrEqual(end!);
  });
});

describe.runIf(major >= 14)('what is left off without a slot that stays', () => {
  it.concurrent.each(['--binary', '--streaming buffer'])('is told: %s', async (asked) => {
    await using shop = await Shop.open();
    const option = asked.split(' ');
    const text = `pgtail: ${asked} is left off: it needs a slot that outlives its connection`;
    const temporary = [...shop.database.options, '-P', 'shop', ...option];
    expect((await noticesOf(...temporary)).slice(1)).toEqual([text]);
    expect(await noticesOf(...shop.args, ...option)).not.toContain(text);
  });
});

describe.concurrent('--end-lsn', () => {
  it('before the position of the slot ends at once, and says that nothing can come', async () => {
    await using shop = await Shop.open();
    const position = formatLsn(await shop.confirmed());
    await shop.order(1);
    const { code, stdout, stderr } = await runPgtail([...shop.args, '--end-lsn', '0/1']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain(
      `pgtail: nothing can come: --end-lsn 0/1 lies before ${position}, where the stream starts\n`,
    );
    // it has taken nothing from the next reader
    expect(insertedIds((await runPgtail([...shop.args, '--no-follow'])).stdout)).toEqual([1]);
  });

  it('behind it says nothing', async () => {
    await using shop = await Shop.open();
    await shop.order(1);
    const end = formatLsn(await shop.position());
    expect(await noticesOf(...shop.args, '--end-lsn', end)).toHaveLength(1);
  });
});
