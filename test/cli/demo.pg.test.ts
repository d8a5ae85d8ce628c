// `pgtail demo` as a user runs it: the fixed script, and nothing left after Ctrl-C.

import { chmodSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runPgtail, startPgtail } from '../support/pgtail.ts';
import { temporaryFolder } from '../support/pty.ts';
import { linesOf, opsOf } from '../support/tail.ts';
import { until } from '../support/until.ts';

/** Processes whose command line names this folder. */
function processesIn(folder: string): string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder);
      } catch {
        return false; // it has just ended
      }
    });
}

/** The demo keeps its server below TMPDIR, if another account can enter it. */
function ownTmp(folder: string): Record<string, string> {
  const tmp = join(folder, 'tmp');
  mkdirSync(tmp);
  for (const path of [folder, tmp]) chmodSync(path, 0o755);
  return { TMPDIR: tmp };
}

describe.concurrent('pgtail demo --once', () => {
  it('prints a fixed script of changes as NDJSON, ends, and leaves nothing', async () => {
    const { code, stdout, stderr } = await runPgtail(['demo', '--once', '--format', 'ndjson']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^pgtail: start/) });
    const ops = new Set(opsOf(stdout));
    for (const op of ['begin', 'relation', 'insert', 'update', 'delete', 'truncate', 'message']) {
      expect(ops).toContain(op);
    }
    const identities = new Set(
      linesOf(stdout).flatMap(({ identity }) => (identity ? [identity] : [])),
    );
    expect([...identities].sort()).toEqual(['default', 'full', 'index', 'nothing']);
    expect(linesOf(stdout).some((line) => line.unchanged !== undefined)).toBe(true);
    expect(stderr.match(/\/\S+/g) ?? []).toEqual([]);
  });

  it('is not led astray by variables that speak of another server', async () => {
    const env = {
      PGHOST: 'nowhere.invalid',
      PGSSLMODE: 'require',
      PGSSLROOTCERT: '/nonexistent',
      PGCONNECT_TIMEOUT: 'abc',
      PGOPTIONS: '--bogus',
      PGTAIL_SLOT: '',
    };
    const { code, stdout } = await runPgtail(['demo', '--once', '-q', '--format', 'ndjson'], {
      env,
    });
    expect({ code, ops: opsOf(stdout).slice(0, 2) }).toEqual({
      code: 0,
      ops: ['begin', 'relation'],
    });
  });

  it('names the temporary folder that does not exist', async () => {
    const { code, stderr } = await runPgtail(['demo', '--once'], {
      env: { TMPDIR: '/nonexistent' },
    });
    expect(code).toBe(1);
    expect(stderr).toContain('cannot make a temporary folder in /nonexistent');
  });

  it('says nothing with --quiet', async () => {
    const { code, stderr } = await runPgtail(['demo', '--once', '--quiet', '--format', 'pretty']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});

describe.concurrent('pgtail demo', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    'ends on %s without a process or a folder',
    async (signal) => {
      using folder = temporaryFolder();
      const env = ownTmp(folder.path);
      await using child = startPgtail(['demo', '--format', 'ndjson'], { env });
      await child.output(/"op":"commit"/);
      expect(readdirSync(env.TMPDIR!)).toHaveLength(1);
      expect(processesIn(env.TMPDIR!).length).toBeGreaterThan(0);
      const { code } = await child.stop(signal);
      expect(code).toBe(0);
      await until(() => readdirSync(env.TMPDIR!).length === 0, { what: 'the folder to be empty' });
      expect(processesIn(env.TMPDIR!)).toEqual([]);
    },
  );

  it('leaves nothing after kill -9 either', async () => {
    using folder = temporaryFolder();
    const env = ownTmp(folder.path);
    await using child = startPgtail(['demo', '--format', 'ndjson'], { env });
    await child.output(/"op":"commit"/);
    expect(readdirSync(env.TMPDIR!)).toHaveLength(1);
    await child.stop('SIGKILL');
    await until(() => readdirSync(env.TMPDIR!).length === 0, { what: 'the folder to be empty' });
    await until(() => processesIn(env.TMPDIR!).length === 0);
  });
});
