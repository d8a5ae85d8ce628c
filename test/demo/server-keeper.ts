// A program for the watchdog's tests: starts a server, tells where, and ends without stopping it.

import { startEmbeddedServer } from '../../src/demo/embedded-server.ts';

const nativeDirectory = process.argv[2];
if (nativeDirectory === undefined) throw new Error('the folder of the server is missing');
const server = await startEmbeddedServer({ nativeDirectory });
console.log(JSON.stringify({ pid: server.pid, folder: server.socketDirectory }));
// Nothing of the server keeps this process alive; only its own input does.
process.stdin.resume();
