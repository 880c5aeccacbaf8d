import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ErrorComponentProps } from "@tanstack/react-router";
import { useCallback, useEffect } from "react";
import { isFinal } from "../api/call.ts";
import { getSession } from "../api/queries.ts";
import { MissingFile } from "../parts/importFile.ts";
import { ErrorNotice } from "../parts/Notices.tsx";

const RELOADED = "reloaded";
/** Minimum time between two automatic reloads, because the file may stay missing. */
const PAUSE_MS = 60_000;

const MISSING =
  "A file of this screen could not be loaded: the service was away, or was updated since this page was opened. The page is loaded again once the service answers; if this stays, try again.";

const hasReloaded = (): boolean => Date.now() - Number(sessionStorage.getItem(RELOADED)) < PAUSE_MS;

/**
 * Reloads the page, so that the browser requests a failed file again. Does not reload while the service is unavailable, which would
 * leave no page at all.
 */
function useReload() {
  const queries = useQueryClient();
  return useCallback(async () => {
    const isThere = await queries.fetchQuery({ ...getSession, staleTime: 0 }).then(() => true, isFinal);
    if (!isThere) return;
    sessionStorage.setItem(RELOADED, String(Date.now()));
    location.reload();
  }, [queries]);
}

/** Replaces a screen that could not be loaded or rendered; the navigation stays. */
export function ScreenError({ error }: ErrorComponentProps) {
  const isMissing = error instanceof MissingFile;
  const reload = useReload();
  // `Interruption` polls until the service is back
  const session = useQuery({ ...getSession, enabled: false });
  const isAway = session.error !== null && !isFinal(session.error);
  useEffect(() => {
    if (isMissing && !isAway && !hasReloaded()) void reload();
  }, [isMissing, isAway, reload]);
  return (
    <section className="screen narrow" aria-labelledby="title">
      <h1 id="title">{isMissing ? "This screen could not be loaded" : "This screen could not be shown"}</h1>
      {!isMissing && <p>The console failed while it drew this screen. If it fails again, report these words:</p>}
      <ErrorNotice error={isMissing ? MISSING : error} onRetry={() => void reload()} />
    </section>
  );
}
