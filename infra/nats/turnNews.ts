import type { TurnNewsExchange } from "#events/turnNews.ts";
import type { Connection } from "./connection.ts";
import type { Names } from "./names.ts";

/** Uses core NATS, like hints: nothing is stored. */
export const createTurnNews = ({ pubSub }: Connection, names: Names): TurnNewsExchange => ({
  publish: (organization, news) => pubSub.publishToOthers(names.hint.turns(organization), news),
  subscribe: (organization, listener) => pubSub.subscribe(names.hint.turns(organization), listener),
});
