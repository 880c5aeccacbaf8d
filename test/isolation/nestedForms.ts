const LEVELS = 7;
const WIDTH = 10;

/** A PDF of about 3 KB whose page draws a form, which draws the next one ten times, and so on: ten million draws. */
export function nestedForms(seed: number): Uint8Array<ArrayBuffer> {
  const stream = (entries: string, content: string) =>
    `<< ${entries} /Length ${content.length} >>\nstream\n${content}\nendstream`;
  const form = (level: number) => {
    const isLast = level === LEVELS - 1;
    const resources = isLast ? "<< >>" : `<< /XObject << /F ${5 + level + 1} 0 R >> >>`;
    const content = isLast ? "q Q" : "/F Do ".repeat(WIDTH);
    return stream(`/Type /XObject /Subtype /Form /BBox [0 0 10 10] /Resources ${resources}`, content);
  };
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Contents 4 0 R /Resources << /XObject << /F 5 0 R >> >> >>",
    stream("", `/F Do % ${seed}`),
    ...Array.from({ length: LEVELS }, (_, level) => form(level)),
  ];
  let text = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const start = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
  text += offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  text += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return new Uint8Array(Buffer.from(text, "latin1"));
}
