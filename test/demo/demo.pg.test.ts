// The demo: what its script yields, its live shop, and that nothing stays of it.

import { once } from 'node:events';
import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { type DemoTarget, runDemo } from '../../src/demo/demo.ts';
import { eventText, SHOP_SCRIPT, shopLife } from '../../src/demo/workload.ts';
import { nativeDirectory } from '../support/server-binaries.ts';
import { until } from '../support/until.ts';

/** The tag of each message that waits in the slot. */
const PEEK = `
  SELECT chr(get_byte(data, 0)) AS tag FROM pg_logical_slot_peek_binary_changes('shop', NULL, NULL,
    'proto_version', '1', 'publication_names', 'shop'`;

const native = nativeDirectory();

describe('pgtail demo --once', () => {
  it('runs every kind of change before the tail, and passes its exit code on', async () => {
    let seen: Record<string, number> = {};
    const code = await demo({ once: true }, async (target) => {
      expect(target).toMatchObject({ slot: 'shop', publication: 'shop', follow: false });
      seen = await countMessages(target);
      return 5;
    });
    expect(code).toBe(5);
    expect(seen).toMatchObject({ I: 20, U: 7, D: 4, T: 1 });
    const commits = SHOP_SCRIPT.filter(isTransaction).length;
    expect(seen.C).toBeGreaterThanOrEqual(commits); // 14 sends empty transactions too
  });

  it('shows its tables with each replica identity, and a text that is really TOASTed', async () => {
    await demo({ once: true }, async (target) => {
      const identities = await ask(
        target,
        `SELECT string_agg(DISTINCT relreplident::text, '' ORDER BY relreplident::text) AS kinds
           FROM pg_class WHERE relkind = 'r' AND relnamespace = 'shop'::regnamespace`,
      );
      expect(identities).toEqual({ kinds: 'dfin' });
      const toasted = await ask(
        target,
        `SELECT min(length(description)) > 8192 AS long,
                pg_relation_size(max(reltoastrelid)) > 8192 AS toasted
           FROM shop.articles, pg_class WHERE pg_class.oid = 'shop.articles'::regclass`,
      );
      expect(toasted).toEqual({ long: true, toasted: true });
      return 0;
    });
  });

  it('stops the server if the tail fails', async () => {
    let target: DemoTarget | undefined;
    const run = demo({ once: true }, async (given) => {
      target = given;
      throw new Error('the tail broke');
    });
    await expect(run).rejects.toThrow('the tail broke');
    await expect(ask(target!, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('lets nobody but the owner of the folder become superuser', async () => {
    await demo({ once: true }, async (target) => {
      const superuser = ask({ ...target, user: 'postgres' }, 'SELECT 1');
      await expect(superuser).rejects.toMatchObject({ code: '28000' });
      return 0;
    });
  });
});

describe('pgtail demo', () => {
  it('changes rows while the tail runs, and tells how to look at them', async () => {
    const notices: string[] = [];
    const stop = new AbortController();
    const code = await demo(
      { once: false },
      async (target, signal) => {
        const customers = `SELECT count(*)::int AS count FROM shop.customers`;
        await until(async () => (await ask<{ count: number }>(target, customers)).count > 0);
        expect(notices.join('\n')).toContain(`psql -h 127.0.0.1 -p ${target.port} -U shop`);
        stop.abort();
        if (!signal.aborted) await once(signal, 'abort');
        return 0;
      },
      stop.signal,
      notices,
    );
    expect(code).toBe(0);
  });

  it('ends at once if it is stopped before the server is up', async () => {
    const stop = new AbortController();
    const run = demo({ once: false }, () => Promise.reject(new Error('never')), stop.signal);
    stop.abort();
    expect(await run).toBe(0);
  });

  it('goes on for a long time without an error', async () => {
    await demo({ once: true }, async (target) => {
      const client = new Client({ ...target, user: 'shop' });
      await client.connect();
      await client.query('ALTER TABLE shop.customers ALTER id RESTART WITH 1004');
      await client.query('ALTER TABLE shop.orders ALTER id RESTART WITH 4');
      const life = shopLife(Math.random);
      for (let count = 0; count < 1000; count++) await client.query(eventText(life.next().value));
      await client.end();
      const { I = 0, U = 0, D = 0, T = 0 } = await countMessages(target);
      expect(Math.min(I, U, D, T)).toBeGreaterThan(5);
      return 0;
    });
  });
});

function isTransaction(event: { ends: string; statements: readonly string[] }): boolean {
  if (event.ends === 'none') return event.statements.some((text) => text.startsWith('INSERT'));
  return event.ends === 'commit';
}

function demo(
  options: { once: boolean },
  tail: (target: DemoTarget, signal: AbortSignal) => Promise<number>,
  signal: AbortSignal = new AbortController().signal,
  notices: string[] = [],
): Promise<number> {
  const notice = (line: string) => void notices.push(line);
  return runDemo(
    { ...options, nativeDirectory: native },
    { tail, notice, program: 'pgtail', signal },
  );
}

async function countMessages(target: DemoTarget): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const rows = await askAll<{ tag: string }>(target, `${PEEK})`);
  for (const { tag } of rows) counts[tag] = (counts[tag] ?? 0) + 1;
  return counts;
}

async function ask<Row = unknown>(target: DemoTarget, query: string): Promise<Row> {
  return (await askAll<Row>(target, query))[0]!;
}

async function askAll<Row>(target: DemoTarget, query: string): Promise<Row[]> {
  const { host, port, user, database } = target;
  const client = new Client({ host, port, user, database, ssl: false });
  await client.connect();
  try {
    return (await client.query(query)).rows as Row[]; // the query in hand says what it selects
  } finally {
    await client.end();
  }
}
