import { chromium, type Page } from "playwright-core";
import { progress } from "../tools/progress.ts";
import type { Report } from "../tools/report.ts";
import { startService, type Service } from "../tools/service.ts";
import { median } from "../tools/stats.ts";
import { untilInterrupted } from "../tools/untilInterrupted.ts";
import { measureScrolling, type Scrolling } from "./scroll.ts";

const STEPS = 10_000;
const ROUNDS = 5;
/** Pixels per frame: for reading, and for searching a row. */
const SPEEDS = { reading: 20, searching: 400 };
type Speed = keyof typeof SPEEDS;

/** The path of Debian's package `chromium`; CHROMIUM overrides it. */
const PROGRAM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const PATIENCE_MS = 120_000;

/** Steps that one call may start. */
const BATCH = 1_000;
const SOURCE = `export const run = async (ctx) => {
  for (let from = 0; from < ${STEPS}; from += ${BATCH})
    await ctx.runStepMany("count", Array.from({ length: ${BATCH} }, (_, n) => ({ n: from + n, words: "some words of a step" })));
};
export const steps = { count: ({ n }) => ({ n, done: true }) };`;

/** Creates a finished run with many steps. Returns its id. */
async function makeRun(service: Service): Promise<string> {
  const owner = await service.signIn();
  const name = "many_steps";
  const definition = await owner("POST", "/api/definitions", { type: "workflow", name, source: SOURCE }, [201]);
  const settings = { definition_id: definition.id, name, envelope: { limits: { max_steps: STEPS } } };
  const workflow = await owner("POST", "/api/workflows", settings, [201]);
  const { id } = await owner("POST", `/api/workflows/${workflow.id}/runs`, { args: {} }, [202]);
  return service.until("the end of the run", 500, async () => {
    const run = await owner("GET", `/api/workflows/runs/${id}?steps=false`, undefined, [200]);
    if (run.status === "failed") throw new Error(`the run failed: ${run.error}`);
    return run.status === "completed" ? (id as string) : undefined;
  });
}

/** Signs in as a person and opens the run's screen. Resolves once its first rows are shown. */
async function openRun(page: Page, { credentials: { base_url, admin } }: Service, run: string): Promise<void> {
  await page.goto(`${base_url}/console/runs/${run}`);
  await page.getByLabel("E-mail").fill(admin.email);
  await page.getByLabel("Password").fill(admin.password);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "count #0" }).first().waitFor();
}

async function measureRounds(service: Service): Promise<Record<Speed, Scrolling[]>> {
  const run = await makeRun(service);
  const browser = await chromium.launch({ executablePath: PROGRAM, chromiumSandbox: false, args: ["--disable-gpu"] });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.setDefaultTimeout(PATIENCE_MS);
    await openRun(page, service, run);
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    const measured: Record<Speed, Scrolling[]> = { reading: [], searching: [] };
    for (let n = 0; n < ROUNDS; n++) {
      progress(`round ${n + 1} of ${ROUNDS}`);
      for (const [speed, pixels] of Object.entries(SPEEDS) as [Speed, number][])
        measured[speed].push(await measureScrolling(page, session, pixels));
    }
    return measured;
  } finally {
    await browser.close();
  }
}

/** How smoothly Chromium scrolls through the steps of a long run. */
export const benchConsole = async (): Promise<Report> => {
  progress("starting");
  const service = await startService();
  try {
    return report(await untilInterrupted(() => measureRounds(service)));
  } finally {
    progress("stopping");
    await service.stop();
  }
};

function report(measured: Record<Speed, Scrolling[]>): Report {
  const speeds = Object.keys(measured) as Speed[];
  const middle = (speed: Speed, field: keyof Scrolling) => median(measured[speed].map((one) => one[field]));
  const verdict = (speed: Speed) => ({
    name: `frames_while_${speed}`,
    value: middle(speed, "framesPerSecond"),
    floor: 50,
    aim: 59,
    better: "more" as const,
  });
  return {
    bench: "console",
    tables: [
      {
        title: `A run of ${STEPS} steps is scrolled, median of ${ROUNDS} rounds`,
        head: [
          "pixels in a frame",
          "frames a second",
          "longest frame (ms)",
          "processor time of the main thread for a frame (ms)",
          "rows",
        ],
        rows: speeds.map((speed) => [
          `${SPEEDS[speed]} (${speed})`,
          middle(speed, "framesPerSecond"),
          middle(speed, "worstMs"),
          middle(speed, "mainThreadMs"),
          middle(speed, "rows"),
        ]),
      },
    ],
    verdicts: [
      ...speeds.map(verdict),
      {
        name: "main_thread_while_reading_ms",
        value: middle("reading", "mainThreadMs"),
        floor: 16,
        aim: 8,
        better: "less",
      },
    ],
    figures: {},
  };
}
