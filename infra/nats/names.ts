import { parseStreamName } from "#events/ids.ts";

export const SUBJECT_TOKEN = /^[A-Za-z0-9_-]{1,80}$/;

/** A dot, a space or a wildcard in a token would address a subject of another organization. */
function token(value: string): string {
  if (!SUBJECT_TOKEN.test(value))
    throw new Error(`Invalid in a subject: ${JSON.stringify(String(value).slice(0, 100))}`);
  return value;
}

export type Names = ReturnType<typeof namesFor>;

/** Every subject and stream of one deployment. All begin with its prefix, so that several deployments can share a server. */
export function namesFor(prefix: string) {
  token(prefix);
  const upper = prefix.toUpperCase();
  return {
    streams: {
      commands: `${upper}_COMMANDS`,
      frames: `${upper}_FRAMES`,
      reactions: `${upper}_REACTIONS`,
      dead: `${upper}_DEAD`,
      events: `${upper}_EVENTS`,
    },
    durables: { commands: "services", reactions: "reactors" },
    all: {
      commands: `${prefix}.cmd.>`,
      frames: `${prefix}.deltas.>`,
      reactions: `${prefix}.react.>`,
      dead: `${prefix}.dead.>`,
      events: `${prefix}.evt.v1.>`,
    },
    command(command: { organization_id: string; stream: string }): string {
      const { aggregate, id } = parseStreamName(command.stream);
      return `${prefix}.cmd.${token(command.organization_id)}.${token(aggregate)}.${token(id)}`;
    },
    answers: (inbox: string) => `${prefix}.answers.${token(inbox)}`,
    frames: (organization: string, turn: string) => `${prefix}.deltas.${token(organization)}.${token(turn)}`,
    /** The frames of all turns of an organization. */
    framesOf: (organization: string) => `${prefix}.deltas.${token(organization)}.*`,
    stop: (organization: string, turn: string) => `${prefix}.stop.${token(organization)}.${token(turn)}`,
    stops: `${prefix}.stop.*.*`,
    reaction: (event: { organization_id: string; type: string }) =>
      `${prefix}.react.${token(event.organization_id)}.${token(event.type)}`,
    /** The subject of an event. Other services subscribe by organization, aggregate and type. */
    event: (event: { organization_id: string; stream: string; type: string }) =>
      `${prefix}.evt.v1.${token(event.organization_id)}.${token(parseStreamName(event.stream).aggregate)}.${token(event.type)}`,
    /** Every event of an organization. */
    eventsOf: (organization: string) => `${prefix}.evt.v1.${token(organization)}.>`,
    /** The durable consumer of a listener. */
    listener: (name: string) => token(name),
    /** The subject of a dead letter: `dead`, followed by the message's own subject. */
    dead: (subject: string) => `${prefix}.dead.${subject.slice(prefix.length + 1)}`,
    /** Dead letters of one organization. In commands and reactions, the organization is the second token. */
    deadOf: (organization: string) => `${prefix}.dead.*.${token(organization)}.>`,
    /** The subject of canaries, which show that commands reach a services process. */
    canary: `${prefix}.cmd.canary`,
    /** Announces a fault that a process has healed. */
    healed: `${prefix}.healed`,
    hint: {
      committed: `${prefix}.hint.committed`,
      wanted: `${prefix}.hint.wanted`,
      projected: `${prefix}.hint.projected`,
      circuitsAsked: `${prefix}.hint.circuits_asked`,
      claims: (inbox: string) => `${prefix}.hint.claims_${token(inbox)}`,
      circuits: (question: string) => `${prefix}.hint.circuits_${token(question)}`,
      readings: `${prefix}.hint.readings`,
      turns: (organization: string) => `${prefix}.hint.turns_${token(organization)}`,
    },
  };
}
