import { ActionButton } from "./ActionButton.tsx";
import { ErrorNotice } from "./Notices.tsx";
import { useChange } from "./useChange.ts";

interface ThingAction {
  label: string;
  /** The confirmation question; without it the action runs at once. */
  question?: string | undefined;
  isDangerous?: boolean;
  run: () => Promise<unknown>;
}

interface Props {
  actions: readonly ThingAction[];
  /** The first word of the queries to invalidate. */
  kind: string;
}

/** The actions on an item, and the error of a failed one. */
export function ThingActions({ actions, kind }: Props) {
  const send = useChange(kind, ({ run }: ThingAction) => run());
  return (
    <>
      <p className="buttons">
        {actions.map(({ run, ...action }) => (
          <ActionButton
            key={action.label}
            {...action}
            action={{ ...send, mutate: () => send.mutate({ ...action, run }) }}
          />
        ))}
      </p>
      {send.isError && <ErrorNotice error={send.error} />}
    </>
  );
}
