import { styleText } from "node:util";

const WIDTH = 30;
const EVERY_MS = 100;

/** `label  ███░░░  40 %  2,000 of 5,000 events` */
export function bar(label: string, unit: string, done: number, of: number): string {
  const part = of > 0 ? Math.min(1, done / of) : 1;
  const filled = Math.floor(part * WIDTH);
  const drawn = styleText("cyan", "█".repeat(filled), { stream: process.stderr }) + "░".repeat(WIDTH - filled);
  const counts = `${done.toLocaleString("en")} of ${of.toLocaleString("en")} ${unit}`;
  return `${label}  ${drawn} ${String(Math.floor(part * 100)).padStart(3)} %  ${counts}`;
}

/** A bar on stderr while something goes on, on a terminal only; `end` removes it. */
export function progress(label: string, unit: string) {
  if (!process.stderr.isTTY) return { show: () => {}, end: () => {} };
  let shown = 0;
  return {
    show(done: number, of: number): void {
      if (performance.now() - shown < EVERY_MS) return;
      shown = performance.now();
      process.stderr.write(`\r\x1b[K${bar(label, unit, done, of)}`);
    },
    end(): void {
      process.stderr.write("\r\x1b[K");
    },
  };
}
