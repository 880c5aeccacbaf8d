import { WRITES, type Attempt, type InjectedFault, type Readiness } from "../journal.ts";
import { grouped, type Evidence } from "./evidence.ts";
import { different, stuck, type Finding } from "./finding.ts";

const PROMISED_MS = 5_000;
/**
 * Minimum failed turns of the probe, which needs PostgreSQL, NATS and a services process, like `/readyz`. A single one may fail for
 * another reason.
 */
const MIN_FAILED = 2;
/** Faults during which, and shortly after, the process itself cannot answer. */
const SILENCING: InjectedFault["what"][] = ["stop", "handles", "memory"];
const AFTERMATH_MS = 1_000;
const PROBED_WRITES: ReadonlySet<string> = new Set(["probe turn", "probe upload", "probe login"]);

type Known = Pick<Evidence, "readiness" | "attempts" | "operations" | "faults">;

interface Span {
  from: number;
  to: number;
}

/** `/readyz` answers within 5 s, and is not 200 for longer than that while no write succeeds. */
export const checkReadiness = (known: Known): Finding[] => [...findLies(known), ...findSilence(known)];

/** The times in which all answers of a port were 200. */
function readySpans(answers: Readiness[]): Span[] {
  const spans: Span[] = [];
  let open: Span | undefined;
  for (const { status, end } of answers.toSorted((a, b) => a.start - b.start)) {
    if (status !== 200) open = undefined;
    else if (open) open.to = Math.max(open.to, end);
    else spans.push((open = { from: end, to: end }));
  }
  return spans;
}

/** Splits a span at moments, in order. */
function partsBetween({ from, to }: Span, moments: number[]): Span[] {
  const inside = moments.filter((moment) => moment > from && moment < to).toSorted((a, b) => a - b);
  const bounds = [from, ...inside, to];
  return bounds.slice(1).map((end, n) => ({ from: bounds[n]!, to: end }));
}

function findLies({ readiness, attempts, operations }: Known): Finding[] {
  const writes = new Set(operations.filter(({ what }) => WRITES.has(what)).map(({ id }) => id));
  const isWrite = ({ operation }: Attempt) => writes.has(operation) || PROBED_WRITES.has(operation);
  const byPort = grouped([...attempts.values()].flat(), ({ port }) => String(port));
  return [...grouped(readiness, ({ port }) => String(port))].flatMap(([port, answers]) => {
    const all = byPort.get(port) ?? [];
    const successes = all.filter((one) => isWrite(one) && one.status !== null && one.status < 300);
    const failures = all.filter(
      ({ operation, status }) => operation === "probe turn" && (status === null || status === 503),
    );
    const moments = successes.map(({ end }) => end);
    return readySpans(answers)
      .flatMap((span) => partsBetween(span, moments))
      .filter(({ from, to }) => to - from > PROMISED_MS)
      .map(({ from, to }) => ({ from, to, failed: failures.filter(({ start, end }) => start >= from && end <= to) }))
      .filter(({ failed }) => failed.length >= MIN_FAILED)
      .map(({ from, to, failed }) =>
        different(
          "I24",
          `/readyz on port ${port}`,
          `was 200 for ${seconds(to - from)} s in which ${failed.length} turns failed and no write succeeded`,
        ),
      );
  });
}

/** Whether a fault keeps the process itself from answering. A process with every role is hit by faults of each role. */
function hits(process: string, { what, target }: InjectedFault): boolean {
  const [role, n] = process.split("-");
  const [targetRole, targetN] = target.split(" ");
  return SILENCING.includes(what) && n === targetN && (role === "all" || role === targetRole);
}

/** Whether such a fault overlapped a request to the process. */
export const isSilenced = (
  { process, start, end }: Pick<Readiness, "process" | "start" | "end">,
  faults: InjectedFault[],
): boolean =>
  faults.some((fault) => hits(process, fault) && fault.at < end && (fault.until ?? fault.at) + AFTERMATH_MS > start);

function findSilence({ readiness, faults }: Known): Finding[] {
  return readiness
    .filter(({ start, end }) => end - start > PROMISED_MS)
    .filter((answer) => !isSilenced(answer, faults))
    .map(({ port, start, end, status }) =>
      stuck("I24", `/readyz on port ${port}`, `answered ${status ?? "nothing"} after ${seconds(end - start)} s`),
    );
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
