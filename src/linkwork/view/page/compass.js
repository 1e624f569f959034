// The axes of the world in a corner: a click on one looks along it.

import { svg } from "./dom.js";

const SIZE = 84, REACH = 27;
const AXES = [
  ["x", [1, 0, 0], "#d55e00"], ["y", [0, 1, 0], "#009e73"], ["z", [0, 0, 1], "#0072b2"],
];

export class Compass {
  constructor(stage, look) {
    this.stage = stage;
    this.element = svg("svg", { id: "compass", width: SIZE, height: SIZE, viewBox: `${-SIZE / 2} ${-SIZE / 2} ${SIZE} ${SIZE}` });
    this.ends = AXES.flatMap(([name, axis, colour]) => [1, -1].map((sign) => {
      const line = svg("line", { stroke: colour, "stroke-width": 2.2 });
      const ball = svg("circle", { r: sign > 0 ? 8.5 : 5, fill: colour, "fill-opacity": sign > 0 ? 1 : 0.35 });
      const text = svg("text", { "text-anchor": "middle", dy: "0.35em" });
      text.textContent = sign > 0 ? name : "";
      const direction = axis.map((x) => sign * x);
      const title = svg("title");
      title.textContent = `Look from ${sign > 0 ? "+" : "−"}${name}`;
      const group = svg("g", { class: "axis" }, ...(sign > 0 ? [line] : []), ball, text, title);
      // Straight from above the view has no way up: a little aside it has
      group.addEventListener("click", () => look(direction[2] ? [0, -1e-3, direction[2]] : direction));
      return { direction, line, ball, text, group };
    }));
    stage.beforeFrame.push(() => this._turn());
  }

  _turn() {
    const { camera } = this.stage;
    camera.updateMatrixWorld();
    const e = camera.matrixWorldInverse.elements;
    for (const end of this.ends) {
      const [x, y, z] = end.direction;
      const [a, b] = [REACH * (e[0] * x + e[4] * y + e[8] * z), -REACH * (e[1] * x + e[5] * y + e[9] * z)];
      end.depth = e[2] * x + e[6] * y + e[10] * z;
      end.line.setAttribute("x2", a);
      end.line.setAttribute("y2", b);
      for (const [mark, u, v] of [[end.ball, "cx", "cy"], [end.text, "x", "y"]]) {
        mark.setAttribute(u, a);
        mark.setAttribute(v, b);
      }
    }
    const order = [...this.ends].sort((p, q) => p.depth - q.depth).map((end) => end.group);
    if (order.some((group, k) => group !== this.element.children[k])) this.element.append(...order);
  }
}
