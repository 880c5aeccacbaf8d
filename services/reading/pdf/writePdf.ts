/* Writes PDFs. */

/** A PDF of these objects (numbered from 1; the first is the catalog). */
export function writePdf(objects: readonly (string | Uint8Array)[]): Buffer {
  const parts: Buffer[] = [Buffer.from("%PDF-1.7\n")];
  let length = parts[0]!.length;
  const offsets: number[] = [];
  for (const [index, object] of objects.entries()) {
    offsets.push(length);
    const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(object), Buffer.from("\nendobj\n")]);
    parts.push(part);
    length += part.length;
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  const end = `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<</Size ${size}/Root 1 0 R>>\nstartxref\n${length}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(end)]);
}

/** A stream object with its length. `entries`: more entries of its dictionary. */
export const stream = (data: string | Uint8Array, entries = ""): Buffer =>
  Buffer.concat([
    Buffer.from(`<<${entries}/Length ${Buffer.byteLength(data)}>>stream\n`),
    Buffer.from(data),
    Buffer.from("\nendstream"),
  ]);
