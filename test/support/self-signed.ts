// A self-signed certificate for 127.0.0.1, made with node:crypto alone.
// https://www.rfc-editor.org/rfc/rfc5280#section-4.1

import { generateKeyPairSync, sign } from 'node:crypto';

export interface Certificate {
  /** PEM */
  readonly certificate: string;
  /** PEM */
  readonly key: string;
}

const SEQUENCE = 0x30;
const SET = 0x31;
const ECDSA_WITH_SHA256 = '2a8648ce3d040302';
const COMMON_NAME = '550403';
const SUBJECT_ALT_NAME = '551d11';
const BASIC_CONSTRAINTS = '551d13';

export function selfSigned(commonName: string): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(SEQUENCE, oid(ECDSA_WITH_SHA256));
  const names = der(SEQUENCE, der(SET, der(SEQUENCE, oid(COMMON_NAME), utf8(commonName))));
  const body = der(
    SEQUENCE,
    der(0xa0, der(0x02, Buffer.of(2))), // version 3
    der(0x02, Buffer.of(1)), // serial number
    algorithm,
    names,
    der(SEQUENCE, utcTime('200101000000Z'), utcTime('491231235959Z')),
    names,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(SEQUENCE, ...extensions())),
  );
  const signature = Buffer.concat([Buffer.of(0), sign('sha256', body, privateKey)]);
  return {
    certificate: pem('CERTIFICATE', der(SEQUENCE, body, algorithm, der(0x03, signature))),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function extensions(): Buffer[] {
  const loopback = der(0x87, Buffer.of(127, 0, 0, 1)); // iPAddress
  return [
    der(SEQUENCE, oid(SUBJECT_ALT_NAME), der(0x04, der(SEQUENCE, loopback))),
    der(SEQUENCE, oid(BASIC_CONSTRAINTS), der(0x04, der(SEQUENCE, der(0x01, Buffer.of(0xff))))),
  ];
}

const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const utf8 = (text: string): Buffer => der(0x0c, Buffer.from(text));
const utcTime = (text: string): Buffer => der(0x17, Buffer.from(text));

/** Tag, length and contents. */
function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const head = length < 128 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}

function pem(label: string, content: Buffer): string {
  const lines = content.toString('base64').replaceAll(/(.{64})/g, '$1\n');
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}
