import { isDeepStrictEqual } from "node:util";
import type { Decider } from "#events/decider.ts";
import { Rejection } from "#events/rejection.ts";
import {
  WorkflowChanged,
  WorkflowRegistered,
  type Envelope,
  type WorkflowCommand,
  type WorkflowEvent,
} from "#events/workflow.ts";
import { changeEnvelope, DEFAULT_ENVELOPE } from "./envelope.ts";

interface Registered {
  definition_id: string;
  definition_version: number;
  project_id: string | null;
  enabled: boolean;
  envelope: Envelope;
  /** Counts the envelopes that it has had. */
  envelope_version: number;
}

/** All of a workflow's rules: who asks the stream's head what a step may do gets what holds at that moment. */
export type WorkflowState = { status: "absent" } | ({ status: "registered" } & Registered);

/** Those fields that are given. */
const given = <T extends object>(fields: T): Partial<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;

export const workflow: Decider<WorkflowState, WorkflowCommand, WorkflowEvent> = {
  version: 1,
  initial: { status: "absent" },
  decide(command, state) {
    if (command.type === "RegisterWorkflow") {
      if (state.status !== "absent") throw new Rejection("workflow_exists", "This workflow exists already.");
      const { name, description, envelope, ...registered } = command.data;
      const made = { ...registered, envelope: changeEnvelope(DEFAULT_ENVELOPE, envelope) };
      return [WorkflowRegistered.of(made, { name, description })];
    }
    if (state.status !== "registered") throw new Rejection("workflow_not_found", "No workflow has this id.");
    const { workflow_id, name, description, envelope: asked, ...rest } = command.data;
    const words = given({ name, description });
    const before: Partial<Registered> = state;
    const envelope = asked && changeEnvelope(state.envelope, asked);
    const changed = Object.fromEntries(
      Object.entries(given({ ...rest, envelope })).filter(
        ([field, value]) => !isDeepStrictEqual(value, before[field as keyof Registered]),
      ),
    );
    if (Object.keys({ ...changed, ...words }).length === 0) return [];
    const envelope_version = state.envelope_version + ("envelope" in changed ? 1 : 0);
    return [WorkflowChanged.of({ workflow_id, ...changed, envelope_version }, words)];
  },
  evolve(state, event) {
    switch (event.type) {
      case "WorkflowRegistered": {
        const { workflow_id: _, ...registered } = event.data;
        return { status: "registered", ...registered, envelope_version: 1 };
      }
      case "WorkflowChanged": {
        if (state.status === "absent") return state;
        const { workflow_id: _, ...changed } = event.data;
        return { ...state, ...given(changed) };
      }
    }
  },
};
