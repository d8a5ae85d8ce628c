// Notices that a pipe's reader has closed its end although nothing is being written: an idle tail
// whose `head` has gone ends at once, and acknowledges nothing that nobody read.

import { createServer, Socket } from 'node:net';

/** A part of Node's private side: the handle of a TCP socket, which reads any descriptor. */
interface TcpHandle {
  open(fd: number): number;
}
type TcpConstructor = new (type: number) => TcpHandle;

const TCP_SOCKET = 0;

/**
 * Calls back once when the pipe behind `fd` has no reader any more. `fd` must be a descriptor of
 * its own, and belongs to the watch.
 *
 * epoll reports the error state of a pipe's writing end to whoever watches it, but Node watches
 * only descriptors that it reads, and opens a writing end for writing alone. A TCP handle is opened
 * for both; its read fails only once the reader is gone. Where Node does not have this handle any
 * more there is no watch, and the next write finds out. Returns how to end the watch.
 */
export async function watchReader(fd: number, onGone: () => void): Promise<() => void> {
  const handle = await tcpHandle();
  if (handle === undefined || handle.open(fd) !== 0) return () => {};
  const socket = new Socket({ handle, readable: true, writable: false } as object);
  socket.on('error', onGone);
  socket.resume();
  socket.unref();
  return () => {
    socket.removeListener('error', onGone);
    socket.on('error', () => {});
    socket.destroy();
  };
}

/** Only a listening socket gives the constructor away. */
function tcpHandle(): Promise<TcpHandle | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', () => resolve(undefined));
    server.listen(0, '127.0.0.1', () => {
      const { _handle: handle } = server as unknown as {
        _handle?: { constructor: TcpConstructor };
      };
      server.close();
      resolve(handle && new handle.constructor(TCP_SOCKET));
    });
  });
}
