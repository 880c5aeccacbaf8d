import { useEffect, useRef, useState } from "react";
import { checkRuns, type CheckedRun, type Outcome } from "../../api/checkRuns.ts";

/** Runs after which the person is asked whether to continue with older ones. */
const MAX_AT_ONCE = 500;
/** Maximum number of listed runs; the counts continue. */
const MAX_LISTED = 200;

const EMPTY = { checked: 0, same: 0, different: 0, failed: 0, unanswered: 0 };

export interface RunCheck {
  source: string;
  counts: Record<Outcome | "checked", number>;
  /** Runs that take another path, newest first. */
  listed: CheckedRun[];
  /** The cursor for older runs; null if all are checked. */
  cursor: string | null;
  isRunning: boolean;
  error: unknown;
}

/** Adds the next page to a check. */
async function addPage(id: string, check: RunCheck, signal: AbortSignal): Promise<RunCheck> {
  const page = await checkRuns(id, check.source, check.cursor, signal);
  const names = Object.keys(EMPTY) as (keyof typeof EMPTY)[];
  const counts = Object.fromEntries(names.map((name) => [name, check.counts[name] + page[name]]));
  const others = page.data.filter(({ outcome }) => outcome !== "same");
  return {
    ...check,
    counts: counts as typeof EMPTY,
    listed: [...check.listed, ...others].slice(0, MAX_LISTED),
    cursor: page.next_cursor,
  };
}

/** Checks a source against stored runs, page by page, until it is stopped. */
export function useRunCheck(id: string) {
  const [check, setCheck] = useState<RunCheck>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  async function continueCheck(from: RunCheck): Promise<void> {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    const upTo = from.counts.checked + MAX_AT_ONCE;
    let now: RunCheck = { ...from, isRunning: true, error: undefined };
    setCheck(now);
    try {
      do {
        now = await addPage(id, now, controller.signal);
        if (controller.signal.aborted) return;
        setCheck(now);
      } while (now.cursor !== null && now.counts.checked < upTo);
    } catch (error) {
      if (!controller.signal.aborted) now = { ...now, error };
    }
    if (!controller.signal.aborted) setCheck({ ...now, isRunning: false });
  }
  return {
    check,
    begin: (source: string) =>
      void continueCheck({ source, counts: EMPTY, listed: [], cursor: null, isRunning: true, error: undefined }),
    resume: () => check && void continueCheck(check),
    stop: () => {
      running.current?.abort();
      setCheck((now) => now && { ...now, isRunning: false });
    },
  };
}
