// Starts the shared server before the first test of a run, and stops it after the last.

import type { TestProject } from 'vitest/node';
import type { EmbeddedServer } from '../../src/demo/embedded-server.ts';
import { startPrivateServer } from './private-server.ts';

let server: EmbeddedServer | undefined;

export async function setup(project: TestProject): Promise<void> {
  server = await startPrivateServer();
  const { host, port, user, socketDirectory, major, version } = server;
  project.provide('sharedServer', { host, port, user, socketDirectory, major, version });
}

export async function teardown(): Promise<void> {
  await server?.stop();
}
