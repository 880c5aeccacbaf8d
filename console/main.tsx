// first, so that the styles of parts and screens follow
import "./styles/index.css";
import { MutationCache, QueryCache, QueryClient, QueryClientProvider, type QueryKey } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError, isFinal } from "./api/call.ts";
import { getSession } from "./api/queries.ts";
import { canRetryLater, retryFailedQueries } from "./api/retryFailedQueries.ts";
import { followHeading } from "./app/followHeading.ts";
import { createAppRouter } from "./app/router.tsx";

const MAX_RETRIES = 2;

/** Reads the session again after a request that got no answer or a 401; `Interruption` shows the problem. */
async function noticeInterruption(error: unknown, key?: QueryKey): Promise<void> {
  if (key && canRetryLater(error)) retryFailedQueries(queries);
  const isAway = error instanceof ApiError && error.status === 0;
  const isSignedOut = error instanceof ApiError && error.status === 401;
  const isKnown = queries.getQueryData(getSession.queryKey) !== undefined;
  if (!(isAway || isSignedOut) || !isKnown || key?.[0] === getSession.queryKey[0]) return;
  await queries.invalidateQueries(getSession);
  // a short outage shows no banner, so nothing else reads these again
  const isBack = isAway && queries.getQueryState(getSession.queryKey)?.status === "success";
  if (isBack) await queries.refetchQueries({ type: "active", predicate: ({ state }) => state.status === "error" });
}

const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: (error, { queryKey }) => void noticeInterruption(error, queryKey) }),
  mutationCache: new MutationCache({ onError: (error) => void noticeInterruption(error) }),
  defaultOptions: {
    // A browser that reports to be offline may still reach the service. Paused requests would look like slow ones.
    mutations: { networkMode: "always" },
    queries: {
      networkMode: "always",
      // the change stream reports outdated data
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      retry: (count, error) => count < MAX_RETRIES && !isFinal(error),
    },
  },
});
const router = createAppRouter(queries);

const root = document.getElementById("root")!;
followHeading(root);
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
