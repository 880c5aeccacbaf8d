import type { Answer, Command } from "#events/envelope.ts";
import { partsOf } from "#events/ids.ts";
import { currentTrace, inSpan, withTrace, type Attributes } from "#events/spans.ts";
import { tracedBy, traceFrom } from "#events/trace.ts";

const about = ({ stream, organization_id }: Command): Attributes => ({
  "svc.aggregate": partsOf(stream).aggregate,
  "svc.organization_id": organization_id,
});

const cameTo = ({ position, repeated, rejection }: Answer): Attributes => ({
  "svc.position": position,
  "svc.repeated": repeated,
  ...(rejection && { "svc.rejection": rejection.code }),
});

/**
 * Handles commands as part of the trace that each came with, else of the one that this process is in, and has their events say
 * so. Whatever a command begins here runs in that trace too.
 */
export const traced =
  (handle: (command: Command) => Promise<Answer>) =>
  (command: Command): Promise<Answer> =>
    withTrace(traceFrom(command) ?? currentTrace(), () => {
      const kind = command.traceparent === undefined ? "internal" : "consumer";
      return inSpan(`handle ${command.type}`, { kind, attributes: about(command) }, async (note) => {
        const answer = await handle({ ...command, ...tracedBy(currentTrace()) });
        note(cameTo(answer));
        return answer;
      });
    });
