/** Bytes of a font entry before its name ([MS-DOC]). */
const FONT_HEADER = 40;

/** The names in a table of fonts. */
export const readFontNames = (table: Buffer): string[] => {
  const names: string[] = [];
  const count = table.length < 4 ? 0 : table.readUInt16LE(0);
  for (let at = 4; at < table.length && names.length < count; at += table.readUInt8(at) + 1) {
    const font = table.subarray(at, at + table.readUInt8(at) + 1).subarray(FONT_HEADER);
    const units = Array.from({ length: font.length >> 1 }, (_, index) => font.readUInt16LE(index * 2));
    const end = units.indexOf(0);
    names.push(String.fromCharCode(...units.slice(0, end < 0 ? undefined : end)));
  }
  return names;
};
