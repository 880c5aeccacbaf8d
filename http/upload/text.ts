/** What is looked at of a file. */
const LOOK = 64 * 1024;

const UTF_16 = ["fffe", "feff"].map((mark) => Buffer.from(mark, "hex"));

const OK = [0x08, 0x09, 0x0a, 0x0c, 0x0d, 0x1b];
const CONTROL = new Uint8Array(256).fill(1, 0, 0x20);
for (const code of OK) CONTROL[code] = 0;
/** A stray control character happens; of packed bytes every tenth is one. */
const MOST_CONTROLS = 0.02;

/** Whether the bytes can be text in some encoding, by the first 64 KiB. */
export function isText(bytes: Buffer): boolean {
  const head = bytes.subarray(0, LOOK);
  if (UTF_16.some((mark) => head.subarray(0, 2).equals(mark))) return true;
  if (head.includes(0)) return false;
  let controls = 0;
  for (const byte of head) controls += CONTROL[byte]!;
  return controls <= head.length * MOST_CONTROLS;
}
