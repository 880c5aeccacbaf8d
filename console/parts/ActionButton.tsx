import type { Action } from "./action.ts";
import { FocusableButton } from "./FocusableButton.tsx";

interface Props {
  label: string;
  /** For screen readers: of what, where a list has the same label many times. */
  about?: string;
  isSmall?: boolean;
  /** Asked before; nothing is asked without it. */
  question?: string | undefined;
  isDangerous?: boolean;
  action: Action;
}

/** A button that changes something. Its screen shows why the action failed, where there is room. */
export function ActionButton({ label, about, isSmall = false, question, isDangerous = false, action }: Props) {
  const run = () => {
    if (!question || window.confirm(question)) action.mutate();
  };
  return (
    <FocusableButton
      type="button"
      className={["button", isSmall && "small", isDangerous && "danger"].filter(Boolean).join(" ")}
      isOff={action.isPending}
      onClick={run}
    >
      {label}
      {about && <span className="hidden-text"> {about}</span>}
    </FocusableButton>
  );
}
