// Which part of the picture is seen; moved by pointer, wheel, touch and keys.
const LEAST = 0.004, MOST = 4;
const CLICK = 5;  // pixels that a click may move

export class Camera {
  x = 0;  // the point of the picture at the upper left corner
  y = 0;
  scale = 1;
  isMoved = false;  // since the whole was last shown
  #animation = 0;

  constructor(onChange) {
    this.onChange = onChange;
  }

  toPicture(x, y) {
    return [this.x + x / this.scale, this.y + y / this.scale];
  }

  pan(dx, dy) {
    this.stop();
    this.x -= dx / this.scale;
    this.y -= dy / this.scale;
    this.onChange(this);
  }

  zoom(factor, x, y) {
    this.stop();
    const [px, py] = this.toPicture(x, y);
    this.scale = Math.min(Math.max(this.scale * factor, LEAST), MOST);
    this.x = px - x / this.scale;
    this.y = py - y / this.scale;
    this.onChange(this);
  }

  set({x, y, scale}) {
    this.stop();
    Object.assign(this, {x, y, scale});
    this.onChange(this);
  }

  // There in a fifth of a second, at once where people want no motion.
  moveTo(goal) {
    this.stop();
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return this.set(goal);
    const from = {x: this.x, y: this.y, scale: this.scale}, start = performance.now();
    const step = now => {
      const part = Math.min((now - start) / 200, 1), share = part * (2 - part);
      for (const each of ['x', 'y', 'scale']) this[each] = from[each] + (goal[each] - from[each]) * share;
      this.#animation = part < 1 ? requestAnimationFrame(step) : 0;
      this.onChange(this);
    };
    this.#animation = requestAnimationFrame(step);
  }

  stop() {
    this.isMoved = true;
    cancelAnimationFrame(this.#animation);
    this.#animation = 0;
  }
}

// Calls onClick(x, y, event) for what was no drag.
export function listenTo(element, camera, {onClick, onDoubleClick, onHover}) {
  const pointers = new Map();
  let moved = 0, lastClick = {time: 0, x: 0, y: 0};
  const place = event => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  element.addEventListener('wheel', event => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    if (event.shiftKey) return camera.pan(-(event.deltaX || event.deltaY) * lines, 0);
    if (event.altKey) return camera.pan(-event.deltaX * lines, -event.deltaY * lines);
    camera.zoom(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0016)), ...place(event));
  }, {passive: false});
  element.addEventListener('pointerdown', event => {
    element.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, place(event));
    if (pointers.size === 1) moved = 0;
  });
  element.addEventListener('pointermove', event => {
    const before = pointers.get(event.pointerId), now = place(event);
    if (!before) return onHover(...now);
    const others = [...pointers].filter(([id]) => id !== event.pointerId);
    pointers.set(event.pointerId, now);
    moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (!others.length) return moved > CLICK && camera.pan(now[0] - before[0], now[1] - before[1]);
    pinch(camera, before, now, others[0][1]);
  });
  const release = event => {
    if (!pointers.delete(event.pointerId) || pointers.size || moved > CLICK) return;
    if (event.type === 'pointercancel') return;
    const [x, y] = place(event), near = Math.hypot(x - lastClick.x, y - lastClick.y) < 12;
    const isSecond = event.timeStamp - lastClick.time < 350 && near;
    lastClick = {time: isSecond ? 0 : event.timeStamp, x, y};
    if (isSecond) onDoubleClick(x, y);
    else onClick(x, y, event);
  };
  element.addEventListener('pointerup', release);
  element.addEventListener('pointercancel', release);
}

// Two fingers: what is between them stays between them.
function pinch(camera, before, now, other) {
  const distance = ([x, y]) => Math.max(Math.hypot(x - other[0], y - other[1]), 1);
  const middle = ([x, y]) => [(x + other[0]) / 2, (y + other[1]) / 2];
  const [ax, ay] = middle(before), [bx, by] = middle(now);
  camera.pan(bx - ax, by - ay);
  camera.zoom(distance(now) / distance(before), bx, by);
}
