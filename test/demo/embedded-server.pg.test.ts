// The throw-away server: it starts, survives what tests do to it, and leaves nothing behind.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { type EmbeddedServer, startEmbeddedServer } from '../../src/demo/embedded-server.ts';
import { PgtailError } from '../../src/errors.ts';
import { startPrivateServer } from '../support/private-server.ts';
import { nativeDirectory } from '../support/server-binaries.ts';
import { until } from '../support/until.ts';

const folders: string[] = [];
const { TMPDIR } = process.env;

afterEach(() => {
  if (TMPDIR === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = TMPDIR;
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pgtail-test-'));
  folders.push(folder);
  return folder;
}

describe('an embedded server', () => {
  it('answers on TCP and on its Unix socket, with logical decoding switched on', async () => {
    await using server = await startPrivateServer();
    for (const host of [server.host, server.socketDirectory]) {
      const row = await ask(server, 'SHOW wal_level', host);
      expect(row).toEqual({ wal_level: 'logical' });
    }
  });

  it('leaves neither a process nor a folder when it is stopped', async () => {
    const server = await startPrivateServer();
    const { pid, socketDirectory } = server;
    expect(isRunning(pid)).toBe(true);
    await server.stop();
    expect(isRunning(pid)).toBe(false);
    expect(existsSync(socketDirectory)).toBe(false);
  });

  it('stops although a client stays connected and says nothing', async () => {
    const server = await startPrivateServer();
    const client = new Client(server.connectionConfig());
    const lost = new Promise((resolve) => client.on('error', resolve));
    await client.connect();
    await server.stop('fast');
    await lost;
    expect(existsSync(server.socketDirectory)).toBe(false);
  });

  it('lets settings be chosen, quotes included', async () => {
    await using server = await startPrivateServer({ cluster_name: `Ada's shop` });
    expect(await ask(server, 'SHOW cluster_name')).toEqual({ cluster_name: `Ada's shop` });
  });

  it('keeps port and data across a restart and a crash', async () => {
    await using server = await startPrivateServer();
    await ask(server, 'CREATE TABLE articles (title text)');
    await ask(server, `INSERT INTO articles VALUES ('Teapot')`);
    await server.restart();
    expect(await ask(server, 'SELECT title FROM articles')).toEqual({ title: 'Teapot' });
    await server.crash();
    expect(server.running).toBe(false);
    await server.start();
    expect(await ask(server, 'SELECT title FROM articles')).toEqual({ title: 'Teapot' });
  });

  it('asks for a password if it was given one', async () => {
    await using server = await startPrivateServer({}, { password: 'se:cret\\ pass' });
    expect(await ask(server, 'SELECT 1 AS one')).toEqual({ one: 1 });
    const stranger = new Client({ ...server.connectionConfig(), password: 'guess' });
    await expect(stranger.connect()).rejects.toMatchObject({ code: '28P01' });
  });

  it('tells what the server said if it does not start, and leaves nothing', async () => {
    const temporary = useOwnTemporaryFolder();
    const start = startPrivateServer({ wal_level: 'telepathic' });
    await expect(start).rejects.toMatchObject({
      message: 'the embedded PostgreSQL server did not start',
      detail: expect.stringContaining('invalid value for parameter "wal_level"'),
    });
    await expect(start).rejects.toBeInstanceOf(PgtailError);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('gives up a start that is aborted, and leaves nothing', async () => {
    const temporary = useOwnTemporaryFolder();
    const start = new AbortController();
    const server = startPrivateServer({}, { signal: start.signal });
    start.abort(new Error('enough'));
    await expect(server).rejects.toThrow('enough');
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('runs from a package without library links in a folder that is closed to others', async () => {
    const closed = temporaryFolder();
    chmodSync(closed, 0o700);
    const native = join(closed, 'native');
    cpSync(nativeDirectory(), native, { recursive: true, verbatimSymlinks: true });
    for (const { target } of libraryLinks(native)) rmSync(join(closed, target), { force: true });
    await using server = await startEmbeddedServer({ nativeDirectory: native });
    expect(await ask(server, 'SELECT 1 AS one')).toEqual({ one: 1 });
  });
});

describe('the watchdog', () => {
  it('ends the server and removes its folder after kill -9 of the process in charge', async () => {
    const { child, told } = await runKeeper();
    const { pid, folder } = told;
    expect(isRunning(pid)).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await until(() => !existsSync(folder) && !isRunning(pid), { what: 'the clean-up' });
  });

  it('does the same if the process ends without stopping the server', async () => {
    const { child, told } = await runKeeper();
    child.stdin!.end();
    const [exitCode] = await once(child, 'exit');
    expect(exitCode).toBe(0);
    await until(() => !existsSync(told.folder) && !isRunning(told.pid), { what: 'the clean-up' });
  });
});

async function ask(server: EmbeddedServer, query: string, host = server.host): Promise<unknown> {
  const client = new Client({ ...server.connectionConfig(), host });
  await client.connect();
  try {
    return (await client.query(query)).rows[0];
  } finally {
    await client.end();
  }
}

/** A process of its own that starts a server, tells about it, and ends when its input does. */
async function runKeeper(): Promise<{
  child: ChildProcess;
  told: { pid: number; folder: string };
}> {
  const tsx = fileURLToPath(import.meta.resolve('tsx'));
  const keeper = fileURLToPath(new URL('server-keeper.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', tsx, keeper, nativeDirectory()], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface(child.stdout), 'line');
  return { child, told: JSON.parse(String(line)) };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Servers of other tests are not seen there. */
function useOwnTemporaryFolder(): string {
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
  return folder;
}

function libraryLinks(native: string): readonly { readonly target: string }[] {
  return JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'));
}
