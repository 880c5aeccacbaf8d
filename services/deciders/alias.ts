import { AliasConfigured, AliasRemoved, type AliasCommand, type AliasEvent } from "#events/alias.ts";
import type { Decider } from "#events/decider.ts";
import { Rejection } from "#events/rejection.ts";

/** Maximum aliases of an organization. */
const MAX_ALIASES = 100;

/** The names of an organization's aliases. Their targets are read from the read model when a turn starts. */
export interface AliasState {
  names: string[];
}

export const alias: Decider<AliasState, AliasCommand, AliasEvent> = {
  version: 1,
  initial: { names: [] },
  decide(command, { names }) {
    const isKnown = names.includes(command.data.alias);
    switch (command.type) {
      case "ConfigureAlias":
        if (!isKnown && names.length >= MAX_ALIASES)
          throw new Rejection("too_many_aliases", `An organization may have ${MAX_ALIASES} aliases.`, {
            param: "alias",
          });
        return [AliasConfigured.of(command.data)];
      case "RemoveAlias":
        if (!isKnown) throw new Rejection("alias_not_found", "There is no alias of this name.", { param: "alias" });
        return [AliasRemoved.of(command.data)];
    }
  },
  evolve({ names }, event) {
    const others = names.filter((name) => name !== event.data.alias);
    switch (event.type) {
      case "AliasConfigured":
        return { names: [...others, event.data.alias] };
      case "AliasRemoved":
        return { names: others };
    }
  },
};
