import type { Claim, Decider } from "#events/decider.ts";
import {
  DefinitionCreated,
  DefinitionDeleted,
  DefinitionSaved,
  type DefinitionCommand,
  type DefinitionEvent,
} from "#events/definition.ts";
import { Rejection } from "#events/rejection.ts";
import { eraseOn } from "./keyErasure.ts";
import { requireFewVersions } from "./versions.ts";

type State =
  | { status: "absent" }
  | {
      status: "active";
      type: "tool" | "workflow";
      version: number;
      name_claim: string;
      /** Absent: nothing was counted yet. */
      stored_bytes?: number;
    }
  | { status: "deleted" };

const nameTaken: Claim["rejection"] = {
  code: "definition_exists",
  message: "Another definition of this type has this name.",
  param: "name",
};
const claimName = (name_claim: string): string => `definition:${name_claim}`;

export const definition: Decider<State, DefinitionCommand, DefinitionEvent> = {
  version: 1,
  initial: { status: "absent" },
  decide(command, state) {
    if (command.type === "CreateDefinition") {
      if (state.status !== "absent") throw new Rejection("definition_exists", "This definition exists already.");
      const { name, meta, grants, size_bytes: stored_bytes = 0, ...saved } = command.data;
      return [DefinitionCreated.of({ ...saved, version: 1, stored_bytes }, { name, meta, grants })];
    }
    if (state.status !== "active") throw new Rejection("definition_not_found", "No definition has this id.");
    if (command.type === "DeleteDefinition")
      return [DefinitionDeleted.of({ definition_id: command.data.definition_id, name_claim: state.name_claim })];
    requireFewVersions("definition", state.version);
    const { name, meta, grants, size_bytes = 0, ...saved } = command.data;
    const released = saved.name_claim === state.name_claim ? null : state.name_claim;
    const stored_bytes = (state.stored_bytes ?? 0) + size_bytes;
    const data = { ...saved, type: state.type, version: state.version + 1, stored_bytes, released };
    return [DefinitionSaved.of(data, { name, meta, grants })];
  },
  evolve(_, { type, data }) {
    switch (type) {
      case "DefinitionCreated":
      case "DefinitionSaved":
        return {
          status: "active",
          type: data.type,
          version: data.version,
          name_claim: data.name_claim,
          stored_bytes: data.stored_bytes ?? 0,
        };
      case "DefinitionDeleted":
        return { status: "deleted" };
    }
  },
  claims: (events) => ({
    hold: events.flatMap((event) =>
      event.type === "DefinitionCreated" || (event.type === "DefinitionSaved" && event.data.released !== null)
        ? [{ name: claimName(event.data.name_claim), rejection: nameTaken }]
        : [],
    ),
    release: events.flatMap((event) => {
      if (event.type === "DefinitionDeleted") return [claimName(event.data.name_claim)];
      return event.type === "DefinitionSaved" && event.data.released ? [claimName(event.data.released)] : [];
    }),
  }),
  erases: eraseOn("DefinitionDeleted"),
};
