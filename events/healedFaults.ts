/** Faults of the environment that a process recovers from by itself, as metrics name them. */
export const HEALED_FAULTS = [
  /** A consumer of the bus would have missed messages, or could not be read by its server, and was created again. */
  "consumer_ahead",
  "consumer_stranded",
  "consumer_stalled",
  "consumer_unreadable",
  /** The network dropped a database connection silently, and the process replaced it. */
  "connection_dropped",
  /** A process whose clock differed from the database's stopped taking work. */
  "clock_off",
  /** Two processes of the deployment use different buses, and one of them stopped taking work. */
  "bus_apart",
  /** A target of an alias does not answer, and turns go to the others. */
  "target_down",
  /** A server of the NATS cluster reached no leader, and a process moved to another one. */
  "bus_server_cut_off",
] as const;
export type HealedFault = (typeof HEALED_FAULTS)[number];
