import { cleanup, render, screen } from "@testing-library/react";
import { Tooltip } from "radix-ui";
import { afterEach, expect, test } from "vitest";

import { MachineNotice } from "./loop-notices";

afterEach(cleanup);

const machine = { id: "m1", machineName: "studio-7", isOnline: true };

test("loop of a machine that went offline names it and the command that starts it", () => {
  const targets = [
    { id: "m1", isOnline: false },
    { id: "m2", isOnline: true },
  ];
  render(
    <Tooltip.Provider>
      <MachineNotice machine={machine} targets={targets} />
    </Tooltip.Provider>,
  );
  expect(screen.getByText("Machine studio-7 is offline")).toBeDefined();
  expect(screen.getByText("loopgate up")).toBeDefined();
});

test("loop without a machine waits for any", () => {
  render(<MachineNotice machine={null} targets={[{ id: "m2", isOnline: false }]} />);
  expect(screen.getByText("No machine is online")).toBeDefined();
});

test.each([[machine], [null]])("nothing is said while the machine is online: %j", (of) => {
  const { container } = render(
    <MachineNotice machine={of} targets={[{ id: "m1", isOnline: true }]} />,
  );
  expect(container.textContent).toBe("");
});
