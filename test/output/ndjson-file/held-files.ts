// The real file system, whose writes and syncs wait until a test lets them go on, or fail.

import { type FileSystem, nodeFileSystem } from '../../../src/output/ndjson-file/file-system.ts';
import { until } from '../../support/until.ts';

type Operation = 'write' | 'sync';

interface Held {
  readonly operation: Operation;
  readonly goOn: () => void;
  readonly fail: (error: Error) => void;
}

/** As the system reports it. */
export function systemError(code: string, errno: number): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: made by a test`), { code, errno: -errno });
}

export const noSpace = (): Error => systemError('ENOSPC', 28);
export const inputOutputError = (): Error => systemError('EIO', 5);

export class HeldFiles implements FileSystem {
  readonly status = nodeFileSystem.status;
  readonly statusOf = nodeFileSystem.statusOf;
  readonly realPath = nodeFileSystem.realPath;
  readonly linkTarget = nodeFileSystem.linkTarget;
  readonly names = nodeFileSystem.names;
  readonly remove = nodeFileSystem.remove;
  readonly open = nodeFileSystem.open;
  readonly read = nodeFileSystem.read;
  readonly truncate = nodeFileSystem.truncate;
  readonly rename = nodeFileSystem.rename;
  readonly writeNow = nodeFileSystem.writeNow;
  readonly syncNow = nodeFileSystem.syncNow;
  /** A write takes no more than this at once. */
  mostBytes = Number.POSITIVE_INFINITY;
  readonly #held: Held[] = [];

  /** How many descriptors were closed while something still waited. */
  closedTooEarly = 0;

  close(fd: number): void {
    if (this.#held.length > 0) this.closedTooEarly++;
    nodeFileSystem.close(fd);
  }

  async write(fd: number, bytes: Buffer, position: number): Promise<number> {
    await this.#hold('write');
    return nodeFileSystem.write(fd, bytes.subarray(0, this.mostBytes), position);
  }

  async dataSync(fd: number): Promise<void> {
    await this.#hold('sync');
    return nodeFileSystem.dataSync(fd);
  }

  /** Operations that wait. */
  get waiting(): readonly Operation[] {
    return this.#held.map(({ operation }) => operation);
  }

  /** Lets the first one of this kind go on, as soon as there is one. */
  async letGo(operation: Operation): Promise<void> {
    (await this.#next(operation)).goOn();
  }

  async letFail(operation: Operation, error: Error): Promise<void> {
    (await this.#next(operation)).fail(error);
  }

  #hold(operation: Operation): Promise<void> {
    return new Promise((goOn, fail) => this.#held.push({ operation, goOn, fail }));
  }

  async #next(operation: Operation): Promise<Held> {
    const isIt = (held: Held): boolean => held.operation === operation;
    await until(() => this.#held.some(isIt), {
      what: `a ${operation}`,
      timeout: 5000,
      interval: 1,
    });
    return this.#held.splice(this.#held.findIndex(isIt), 1)[0]!;
  }
}
