// What a picture is drawn with: a canvas, or SVG. Both take the same calls.
const FONT = 'system-ui, -apple-system, "Segoe UI", sans-serif';

export class CanvasPen {
  constructor(context) {
    this.context = context;
  }

  box({x, y, width, height}, {fill, stroke, line = 1, radius = 0, dash = []}) {
    const {context} = this;
    context.beginPath();
    if (radius) context.roundRect(x, y, width, height, radius);
    else context.rect(x, y, width, height);
    if (fill) {
      context.fillStyle = fill;
      context.fill();
    }
    if (stroke) {
      context.strokeStyle = stroke;
      context.lineWidth = line;
      context.setLineDash(dash);
      context.stroke();
    }
  }

  text(x, y, text, {size, color, weight = 400, align = 'left'}) {
    const {context} = this;
    context.font = `${weight} ${size}px ${FONT}`;
    context.fillStyle = color;
    context.textAlign = align;
    context.fillText(text, x, y);
  }

  // Lines are lists of points that stand in threes: begin, two that bend it, end; and how far it
  // goes straight down behind that.
  curves(lines, {stroke, line = 1, dash = []}) {
    const {context} = this;
    context.beginPath();
    for (const [ax, ay, bx, by, cx, cy, dx, dy, tail] of lines) {
      context.moveTo(ax, ay);
      if (ax === dx) context.lineTo(dx, dy);
      else context.bezierCurveTo(bx, by, cx, cy, dx, dy);
      if (tail !== undefined) context.lineTo(dx, tail);
    }
    context.strokeStyle = stroke;
    context.lineWidth = line;
    context.setLineDash(dash);
    context.stroke();
  }

  triangles(points, {fill}) {
    const {context} = this;
    context.beginPath();
    for (const [x, y] of points) {
      context.moveTo(x, y);
      context.lineTo(x - 3.5, y - 7);
      context.lineTo(x + 3.5, y - 7);
      context.closePath();
    }
    context.fillStyle = fill;
    context.fill();
  }
}

const round = number => Math.round(number * 10) / 10;

// Text of a model is hostile: XML has neither its marks nor its control characters.
export function escapeXml(text) {
  return String(text).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd')
    .replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}

export class SvgPen {
  #parts = [];

  box({x, y, width, height}, {fill, stroke, line = 1, radius = 0, dash = []}) {
    this.#parts.push(
      `<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}"` +
      `${radius ? ` rx="${radius}"` : ''} fill="${escapeXml(fill ?? 'none')}"` +
      `${stroke ? ` stroke="${escapeXml(stroke)}" stroke-width="${line}"` : ''}` +
      `${dash.length ? ` stroke-dasharray="${dash.join(' ')}"` : ''}/>`);
  }

  text(x, y, text, {size, color, weight = 400, align = 'left'}) {
    const anchor = {left: 'start', center: 'middle', right: 'end'}[align];
    this.#parts.push(
      `<text x="${round(x)}" y="${round(y)}" font-size="${size}" font-weight="${weight}" ` +
      `fill="${escapeXml(color)}" text-anchor="${anchor}">${escapeXml(text)}</text>`);
  }

  curves(lines, {stroke, line = 1, dash = []}) {
    if (!lines.length) return;
    const d = lines.map(points => {
      const [ax, ay, bx, by, cx, cy, dx, dy, tail] = points.map(round);
      return `M${ax},${ay}C${bx},${by} ${cx},${cy} ${dx},${dy}${tail === undefined ? '' : `V${tail}`}`;
    }).join('');
    this.#parts.push(`<path d="${d}" fill="none" stroke="${escapeXml(stroke)}" stroke-width="${line}"` +
      `${dash.length ? ` stroke-dasharray="${dash.join(' ')}"` : ''}/>`);
  }

  triangles(points, {fill}) {
    if (!points.length) return;
    const d = points.map(([x, y]) => `M${round(x)},${round(y)}l-3.5,-7h7z`).join('');
    this.#parts.push(`<path d="${d}" fill="${escapeXml(fill)}"/>`);
  }

  document({width, height, back}) {
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${round(width)} ${round(height)}" ` +
      `width="${round(width)}" height="${round(height)}" font-family="${escapeXml(FONT)}">\n` +
      `<rect width="100%" height="100%" fill="${escapeXml(back)}"/>\n${this.#parts.join('\n')}\n</svg>\n`;
  }
}
