import type { CDPSession, Page } from "playwright-core";

export interface Scrolling {
  framesPerSecond: number;
  /** The longest time between two frames. */
  worstMs: number;
  /** Processor time of the page's main thread, which has 16.7 ms for a frame. */
  mainThreadMs: number;
  /** Rows in the page at the end. */
  rows: number;
}

const SECONDS = 8;

// a script of the page, as text: benches are checked without the types of browsers
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

/** Scrolls by so many pixels in each frame, down and up again. */
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
