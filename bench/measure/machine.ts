// Where and when a benchmark ran: figures mean little without it.

import { cpus, release, totalmem } from 'node:os';

export interface Machine {
  readonly date: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
}

export function thisMachine(now: Date): Machine {
  const processors = cpus();
  return {
    date: now.toISOString(),
    cpu: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${release()} ${process.arch}`,
    node: process.version,
  };
}

export function machineLine({ date, cpu, cores, memoryGb, system, node }: Machine): string {
  return `${date.slice(0, 10)}, ${cores} x ${cpu}, ${memoryGb} GB, ${system}, Node ${node}\n`;
}
