import { useState } from "react";
import { call } from "../../api/call.ts";
import { runQuery, type RunFilter } from "../../api/queries.ts";
import type { ChangedRuns, RunStatus } from "../../api/types.ts";
import { useRole } from "../../api/useRole.ts";
import { formatCount } from "../../format/index.ts";
import { ErrorNotice } from "../../parts/Notices.tsx";
import { FocusableButton } from "../../parts/FocusableButton.tsx";
import { useChange } from "../../parts/useChange.ts";

/** Runs per request. */
const PAGE = 25;

const ACTIONS: Partial<Record<RunStatus, "retry" | "cancel">> = {
  failed: "retry",
  pending: "cancel",
  running: "cancel",
};

interface Progress {
  changed: number;
  refused: number;
  remaining: number;
}

/** Counts the runs, asks for confirmation, then changes them page by page. */
async function changeAll(
  action: "retry" | "cancel",
  shown: RunFilter,
  show: (progress: Progress) => void,
): Promise<void> {
  const filter = runQuery(shown);
  const change = (more: object) =>
    call<ChangedRuns>("workflows/runs/change", { method: "POST", body: { action, filter, limit: PAGE, ...more } });
  const found = await change({ dry_run: true });
  const count = found.data.length + found.remaining;
  // "Cancel" is also the label of the button that keeps the runs
  const question = action === "retry" ? "Retry # that failed?" : "Stop # for good?";
  if (!window.confirm(question.replace("#", formatCount(count, "run")))) return;
  const progress = { changed: 0, refused: 0, remaining: count };
  for (let cursor: string | null = null; progress.remaining > 0; ) {
    const answer: ChangedRuns = await change({ dry_run: false, cursor });
    progress.refused += answer.data.filter(({ error }) => error !== null).length;
    progress.changed += answer.data.filter(({ error }) => error === null).length;
    progress.remaining = answer.remaining;
    show({ ...progress });
    cursor = answer.next_cursor;
    if (cursor === null) return;
  }
}

/** Retries all failed runs of the list, or cancels all live ones. Runs that began after the list was loaded are excluded. */
export function ChangeAll({ filter }: { filter: RunFilter }) {
  const { mayWrite } = useRole();
  const [progress, setProgress] = useState<Progress>();
  const action = filter.status && ACTIONS[filter.status];
  const change = useChange("run", async () => action && changeAll(action, filter, setProgress));
  if (!action || !mayWrite) return null;
  return (
    <p>
      <FocusableButton
        type="button"
        className={action === "retry" ? "button small" : "button small danger"}
        isOff={change.isPending}
        onClick={() => change.mutate()}
      >
        {action === "retry" ? "Retry all" : "Cancel all"}
      </FocusableButton>{" "}
      <span role="status" className="quiet">
        {progress &&
          `${formatCount(progress.changed, "run")} changed, ${progress.refused} refused, ${progress.remaining} left`}
      </span>
      {change.isError && <ErrorNotice error={change.error} />}
    </p>
  );
}
