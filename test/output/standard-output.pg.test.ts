// The real program's standard output: pipes whose reader leaves, files, devices that are full.

import { describe, expect, it } from 'vitest';
import { expectNoHang } from '../support/in-time.ts';
import { OutputPipe } from '../support/output-pipe.ts';
import { runShell, shellWords, startPgtail, startShell } from '../support/pgtail.ts';
import { insertedIds, Shop } from '../support/tail.ts';

describe.concurrent('a reader that has seen enough', () => {
  it('of rows that are there ends the tail silently, also without --no-follow', async () => {
    await using shop = await Shop.open();
    await shop.orderMany(1, 5000);
    const { stdout, stderr } = await runShell(
      `pgtail ${shellWords(shop.args)} --quiet | head -1; echo "$PIPESTATUS"`,
    );
    const lines = stdout.split('\n');
    expect(JSON.parse(lines[0]!)).toMatchObject({ op: 'begin' });
    expect({ status: lines[1], stderr }).toEqual({ status: '0', stderr: '' });
    const { stdout: again } = await runShell(`pgtail ${shellWords(shop.args)} --no-follow -q`);
    expect(insertedIds(again)).toHaveLength(5000);
  });

  it('ends a tail that has nothing to write', async () => {
    await using shop = await Shop.open();
    using pipe = new OutputPipe();
    await using child = startPgtail(shop.args, { stdout: pipe.writingEnd });
    pipe.handedOver();
    await child.started();
    const begun = performance.now();
    pipe.close();
    expect(await child.exited).toMatchObject({ code: 0 });
    expectNoHang(performance.now() - begun, 2000);
    expect(child.stderr).toMatch(/^pgtail: publication .+\npgtail: slot .+ stays, .+\n$/);
  });
});

describe.concurrent('an output that cannot be written', () => {
  it('because the device is full is exit code 8, and nothing is acknowledged', async () => {
    await using shop = await Shop.open();
    await shop.order(1);
    const before = await shop.confirmed();
    const { code, stderr } = await runShell(`pgtail ${shellWords(shop.args)} -q > /dev/full`);
    expect({ code, stderr }).toEqual({
      code: 8,
      stderr: expect.stringMatching(
        /^pgtail: cannot write to standard output: no space left on the device\npgtail: HINT: .*\n$/,
      ),
    });
    expect(await shop.confirmed()).toBe(before);
  });

  it('because the file may not grow is exit code 8', async () => {
    await using shop = await Shop.open();
    await shop.orderMany(1, 2000, 100);
    const { stdout } = await runShell(
      `f=$(mktemp); (ulimit -f 64; trap '' XFSZ; pgtail ${shellWords(shop.args)} -q > "$f"; echo $?)
       tail -c 1 "$f" | wc -c; rm "$f"`,
    );
    expect(stdout).toMatch(/^8\n/);
    const { stdout: again } = await runShell(`pgtail ${shellWords(shop.args)} --no-follow -q`);
    expect(insertedIds(again)).toHaveLength(2000);
  });

  it('because it is closed is exit code 8, and nothing is acknowledged', async () => {
    await using shop = await Shop.open();
    await shop.order(1);
    const { code, stderr } = await runShell(`pgtail ${shellWords(shop.args)} --no-follow -q >&-`);
    expect({ code, stderr }).toEqual({
      code: 8,
      stderr: expect.stringMatching(
        /^pgtail: cannot write to standard output: it is closed\npgtail: HINT: /,
      ),
    });
    const { stdout: again } = await runShell(`pgtail ${shellWords(shop.args)} --no-follow -q`);
    expect(insertedIds(again)).toEqual([1]);
  });
});

it.concurrent('may be /dev/null: then the slot moves forward and nothing is kept', async () => {
  await using shop = await Shop.open();
  await shop.order(1);
  const { code } = await runShell(`pgtail ${shellWords(shop.args)} --no-follow -q > /dev/null`);
  expect(code).toBe(0);
  const { stdout } = await runShell(`pgtail ${shellWords(shop.args)} --no-follow -q`);
  expect(stdout).toBe('');
});

it.concurrent('appends to a file that others write too', async () => {
  await using shop = await Shop.open();
  await shop.order(1);
  const { stdout } = await runShell(
    `f=$(mktemp); { echo before; pgtail ${shellWords(shop.args)} --no-follow -q; echo after; } > "$f"
     cat "$f"; rm "$f"`,
  );
  expect(stdout).toMatch(/^before\n\{"op":"begin"[\s\S]*"op":"commit".*\}\nafter\n$/);
});

it.concurrent('stays in blocking mode for those who share it', async () => {
  await using shop = await Shop.open();
  await shop.order(1);
  await using child = startShell(
    `{ pgtail ${shellWords(shop.args)} --no-follow -q; grep flags /proc/self/fdinfo/1; } | cat`,
  );
  const { stdout } = await child.exited;
  const flags = /^flags:\s+0(\d+)$/m.exec(stdout)?.[1];
  expect(Number.parseInt(flags!, 8) & 0o4000).toBe(0);
});
