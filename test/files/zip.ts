import { constants, crc32, deflateRawSync } from "node:zlib";

/* Archives written by hand, so that their headers can be false. */

export interface Entry {
  name: string;
  content: string | Buffer;
  /** Deflated data instead of `content`. */
  packed?: Buffer;
  /** The declared size once inflated. */
  size?: number;
  /** The declared offset of the data; several entries may share one. */
  offset?: number;
  attributes?: number;
}

const VERSION = 20;
const DEFLATED = 8;

const head = (signature: number, fields: [bytes: 2 | 4, value: number][]): Buffer => {
  const buffer = Buffer.alloc(4 + fields.reduce((sum, [bytes]) => sum + bytes, 0));
  let at = buffer.writeUInt32LE(signature);
  for (const [bytes, value] of fields) at = buffer.writeUIntLE(value, at, bytes);
  return buffer;
};

/** An archive of these entries. `count` is the declared number of entries. */
export function zipOf(entries: Entry[], count = entries.length): Buffer<ArrayBuffer> {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, content, packed, size, offset, attributes = 0 } of entries) {
    const bytes = Buffer.from(content);
    const data = packed ?? deflateRawSync(bytes);
    const title = Buffer.from(name);
    const common: [2 | 4, number][] = [
      [2, VERSION],
      [2, 0x0800],
      [2, DEFLATED],
      [4, 0],
      [4, crc32(bytes)],
      [4, data.length],
      [4, size ?? bytes.length],
      [2, title.length],
      [2, 0],
    ];
    const rest: [2 | 4, number][] = [
      [2, 0],
      [2, 0],
      [2, 0],
      [4, attributes],
      [4, offset ?? at],
    ];
    directory.push(head(0x02014b50, [[2, VERSION], ...common, ...rest]), title);
    if (offset !== undefined) continue;
    parts.push(head(0x04034b50, common), title, data);
    at += 30 + title.length + data.length;
  }
  const directoryBytes = Buffer.concat(directory);
  const end = head(0x06054b50, [
    [2, 0],
    [2, 0],
    [2, count & 0xffff],
    [2, count & 0xffff],
    [4, directoryBytes.length],
    [4, at],
    [2, 0],
  ]);
  return Buffer.concat([...parts, directoryBytes, end]);
}

/** Deflated data that inflates to this many MiB of a repeated piece. Deflates only one MiB of it. */
export function bomb(megabytes: number, piece = " "): Buffer {
  const block = Buffer.alloc(1_048_576, piece);
  const one = deflateRawSync(block, { finishFlush: constants.Z_FULL_FLUSH });
  return Buffer.concat([...Array<Buffer>(megabytes).fill(one), Buffer.from([3, 0])]);
}
