import type { CDPSession, Page } from "playwright-core";

export interface Scrolling {
  framesPerSecond: number;
  /** The longest time between two frames. */
  worstMs: number;
  /** Processor time per frame in the page's main thread, out of the 16.7 ms that a frame has. */
  mainThreadMs: number;
  /** Rows in the page at the end. */
  rows: number;
}

const SECONDS = 8;

// the page's script is a text, because benches are type-checked without browser types
const scrollBy = (pixels: number) => `new Promise((resolve) => {
  const times = [];
  let down = true;
  const frame = (now) => {
    times.push(now);
    if (now - times[0] > ${SECONDS * 1_000}) return resolve(times);
    const end = document.documentElement.scrollHeight - innerHeight;
    if (scrollY >= end - 1) down = false;
    if (scrollY <= 1) down = true;
    window.scrollBy({ top: down ? ${pixels} : -${pixels}, behavior: "instant" });
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})`;

const ROWS = `document.querySelectorAll("li.step").length`;

async function readTaskSeconds(session: CDPSession): Promise<number> {
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "TaskDuration")!.value;
}

/** Scrolls by this many pixels per frame, down and up again. */
export async function measureScrolling(page: Page, session: CDPSession, pixels: number): Promise<Scrolling> {
  await page.evaluate("window.scrollTo(0, 0)");
  const before = await readTaskSeconds(session);
  const times = await page.evaluate<number[]>(scrollBy(pixels));
  const taskMs = ((await readTaskSeconds(session)) - before) * 1_000;
  const frames = times.length - 1;
  return {
    framesPerSecond: (frames * 1_000) / (times.at(-1)! - times[0]!),
    worstMs: Math.max(...times.slice(1).map((time, n) => time - times[n]!)),
    mainThreadMs: taskMs / frames,
    rows: await page.evaluate<number>(ROWS),
  };
}
