import type { Action } from "./action.ts";
import { FocusableButton } from "./FocusableButton.tsx";

interface Props {
  label: string;
  /** Asked before; nothing is asked without it. */
  question?: string | undefined;
  isDangerous?: boolean;
  action: Action;
}

/** A button that changes something. Its screen shows why the action failed, where there is room. */
export function ActionButton({ label, question, isDangerous = false, action }: Props) {
  const run = () => {
    if (!question || window.confirm(question)) action.mutate();
  };
  return (
    <FocusableButton
      type="button"
      className={isDangerous ? "button danger" : "button"}
      isOff={action.isPending}
      onClick={run}
    >
      {label}
    </FocusableButton>
  );
}
