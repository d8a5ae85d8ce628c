// Loaded into pgtail before it starts: host names that end in `.invalid`, which no name server knows,
// are looked up in a file that holds an address, or the code of the error to fail with.

const dns = require('node:dns');
const { readFileSync } = require('node:fs');

const { lookup } = dns;

dns.lookup = (name, options, callback) => {
  if (!name.endsWith('.invalid')) return lookup(name, options, callback);
  const answer = readFileSync(process.env.NAME_ANSWER, 'utf8');
  if (!/^E/.test(answer)) return lookup(answer, options, callback);
  const error = Object.assign(new Error(`getaddrinfo ${answer} ${name}`), { code: answer });
  process.nextTick(callback, error);
};

require('node:module').syncBuiltinESMExports();
