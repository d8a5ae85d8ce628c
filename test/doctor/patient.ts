// A database that the doctor looks at in this process, and whose fixes are run as they are printed.

import { spawnSync } from 'node:child_process';
import { Client, type ClientConfig, type QueryResultRow } from 'pg';
import { expect } from 'vitest';
import type { RunQuery } from '../../src/catalog/catalog-connection.ts';
import { openCatalog } from '../../src/catalog/open-catalog.ts';
import { connectionSettings } from '../../src/connection/settings.ts';
import { doctorDocument } from '../../src/doctor/document.ts';
import { LIMITS, type Limits } from '../../src/doctor/limits.ts';
import { type DoctorReport, readDoctorReport } from '../../src/doctor/report.ts';
import { doctorSchema } from '../../src/doctor/schema.ts';
import type { Finding } from '../../src/findings/finding.ts';
import { cleanEnvironment, PGTAIL } from '../support/pgtail.ts';
import { until } from '../support/until.ts';

/** Where it is, and how its superuser gets in. */
export interface Place {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** Of the server, if its settings may be changed. */
  readonly restart?: () => Promise<void>;
  /** What is set before any fix. */
  readonly env?: Readonly<Record<string, string>>;
}

/** What the doctor is asked. */
export interface Question {
  readonly slot?: string;
  readonly publications?: readonly string[];
  readonly encoding?: string;
  /** To look as another role than the superuser. */
  readonly user?: string;
  /** To look through something in between. */
  readonly port?: number;
  readonly database?: string;
  readonly limits?: Partial<Limits>;
  readonly env?: Readonly<Record<string, string>>;
}

export class Patient {
  readonly #place: Place;
  /** What an `export` in a fix has set. */
  readonly #env: Record<string, string> = {};
  /** How many the latest examination took over its ordinary connection. */
  queries = 0;

  constructor(place: Place) {
    this.#place = place;
  }

  /** The document is checked against its schema in passing. */
  async examine(question: Question = {}): Promise<DoctorReport> {
    const { host, port, user, database } = this.#place;
    const env = { ...this.#place.env, ...question.env, ...this.#env };
    const flags = {
      dbname: env.PGDATABASE ?? question.database ?? database,
      host,
      port: String(question.port ?? port),
      username: question.user ?? user,
    };
    const machine = { env, userName: user, exists: () => false };
    const connection = connectionSettings(flags, machine);
    const publication = env.PGTAIL_PUBLICATION;
    const catalog = await openCatalog(connection, { readOnly: true });
    try {
      const request = {
        connection,
        slot: env.PGTAIL_SLOT ?? question.slot,
        publications: question.publications ?? (publication === undefined ? [] : [publication]),
        encoding: question.encoding ?? env.PGTAIL_ENCODING,
      };
      const limits = { ...LIMITS, ...question.limits };
      this.queries = 0;
      const report = await catalog.run((query) => {
        const counting: RunQuery = (sql) => {
          this.queries++;
          return query(sql);
        };
        return readDoctorReport(counting, request, limits);
      });
      doctorSchema.parse(JSON.parse(JSON.stringify(doctorDocument(report))));
      return report;
    } finally {
      await catalog.close();
    }
  }

  async finding(id: string, question: Question = {}): Promise<Finding> {
    const { findings } = await this.examine(question);
    const found = findings.find((each) => each.id === id);
    if (found === undefined) {
      throw new Error(`no ${id} among: ${findings.map((each) => each.id).join(', ') || 'nothing'}`);
    }
    return found;
  }

  async ids(question: Question = {}): Promise<string[]> {
    const { findings } = await this.examine(question);
    return findings.map(({ id }) => id);
  }

  /** Runs its fix as it is printed, and sees that it is gone then. */
  async mend(finding: Finding, question: Question = {}): Promise<void> {
    for (const fix of finding.fix) await this.#run(fix);
    // a reload takes a moment
    await until(async () => !(await this.ids(question)).includes(finding.id), {
      what: `${finding.id} to go away`,
      interval: 50,
    });
  }

  async sql(text: string, user?: string): Promise<void> {
    await this.#query(text, user === undefined ? {} : { user });
  }

  /** What a query finds. */
  async rows<Row extends QueryResultRow>(text: string): Promise<readonly Row[]> {
    return await this.#query<Row>(text, {});
  }

  async #run(fix: string): Promise<void> {
    if (fix === 'restart the server') return await this.#place.restart!();
    const exported = /^export (\w+)='?([^'# ]*)'?( #.*)?$/.exec(fix);
    if (exported !== null) {
      this.#env[exported[1]!] = exported[2]!;
      return;
    }
    if (fix.startsWith('pgtail ')) return this.#shell(fix);
    const command = /^psql 'dbname=(\S+) replication=database' -c '([^']*)'( #.*)?$/.exec(fix);
    if (command === null) return await this.sql(fix);
    const replication: object = { replication: 'database' }; // pg takes it, its types do not know it
    await this.#query(command[2]!, { ...replication, database: command[1]! });
  }

  #shell(command: string): void {
    const { host, port, user, database } = this.#place;
    const script = `pgtail() { '${process.execPath}' '${PGTAIL}' "$@"; }\n${command}`;
    const { status, stderr } = spawnSync('bash', ['-c', script], {
      encoding: 'utf8',
      env: cleanEnvironment({
        PGHOST: host,
        PGPORT: String(port),
        PGUSER: user,
        PGDATABASE: database,
        ...this.#env,
      }),
    });
    expect({ status, stderr }).toMatchObject({ status: 0 });
  }

  async #query<Row extends QueryResultRow>(text: string, config: ClientConfig): Promise<Row[]> {
    const { host, port, user, database } = this.#place;
    const client = new Client({ host, port, user, database, ssl: false, ...config });
    await client.connect();
    try {
      const { rows } = await client.query<Row>(text);
      return rows;
    } finally {
      await client.end();
    }
  }
}
