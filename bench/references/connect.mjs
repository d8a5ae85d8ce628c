// A program to compare with: connects by pg, says so, and ends. Its arguments: host port user database.

import pg from 'pg';

const [host, port, user, database] = process.argv.slice(2);
const client = new pg.Client({ host, port: Number(port), user, database, ssl: false });
await client.connect();
process.stdout.write('connected\n');
await client.end();
