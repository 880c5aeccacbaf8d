import { readTimeLeft } from "#http/base/requestTime.ts";
import type { SearchEngine } from "#projections/passages/engine.ts";
import type { FairSemaphore } from "#services/sharing/fairSemaphore.ts";
import { searchInTurns } from "./searchInTurns.ts";

/**
 * An engine for the searches of requests. While the search server is silent, each search holds its place for seconds, so others wait
 * only as long as a read may take: their 503 is due within 5 s.
 */
export const searchForRequests = <E extends SearchEngine>(engine: E, places?: FairSemaphore): E =>
  searchInTurns(engine, places, readTimeLeft);
