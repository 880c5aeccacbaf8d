import { styleText } from "node:util";

const WIDTH = 30;
const REDRAW_MS = 100;

/** `label  ███░░░  40 %  2,000 of 5,000 events` */
export function formatBar(label: string, unit: string, done: number, of: number): string {
  const share = of > 0 ? Math.min(1, done / of) : 1;
  const filled = Math.floor(share * WIDTH);
  const blocks = styleText("cyan", "█".repeat(filled), { stream: process.stderr }) + "░".repeat(WIDTH - filled);
  const counts = `${done.toLocaleString("en")} of ${of.toLocaleString("en")} ${unit}`;
  return `${label}  ${blocks} ${String(Math.floor(share * 100)).padStart(3)} %  ${counts}`;
}

/** A progress bar on stderr, only on a terminal. `end` removes it. */
export function showProgress(label: string, unit: string) {
  if (!process.stderr.isTTY) return { show: () => {}, end: () => {} };
  let drawnAt = 0;
  return {
    show(done: number, of: number): void {
      if (performance.now() - drawnAt < REDRAW_MS) return;
      drawnAt = performance.now();
      process.stderr.write(`\r\x1b[K${formatBar(label, unit, done, of)}`);
    },
    end(): void {
      process.stderr.write("\r\x1b[K");
    },
  };
}
