import type { FramePayload } from "#events/ports.ts";

interface RelayOptions {
  /** Whether readers get each word as it arrives. */
  streamed: boolean;
  onFrame(frame: FramePayload): void;
}

/** Passes frames on, with the name of the target before the first one. Frames of a buffered turn wait for the whole answer. */
export function relayFrames(target: string, { streamed, onFrame }: RelayOptions) {
  const held: FramePayload[] = [];
  let isNamed = false;
  const pass = (frame: FramePayload) => {
    if (!isNamed) onFrame({ type: "target", model: target });
    isNamed = true;
    onFrame(frame);
  };
  return {
    // holds back a refusal, which comes last and in one piece: the next target may answer instead
    onFrame: (frame: FramePayload): void =>
      streamed && frame.type !== "refusal" ? pass(frame) : void held.push(frame),
    flush(): void {
      for (const frame of held) pass(frame);
      if (!isNamed) onFrame({ type: "target", model: target });
    },
  };
}
