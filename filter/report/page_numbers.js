/* Numbers as html_packed() writes them: five bits a character, the lowest first, and more while the sixth is set. */
const NUMBER_DIGITS = new Uint8Array(128);
[..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"].forEach((digit, i) => { NUMBER_DIGITS[digit.charCodeAt(0)] = i; });

/* A list that is not packed stays as it is. */
function numbersOf(packed) {
	if (typeof packed !== "string")
		return packed || [];
	const all = [];
	let n = 0, scale = 1;
	for (let i = 0; i < packed.length; i++) {
		const digit = NUMBER_DIGITS[packed.charCodeAt(i)];
		n += digit % 32 * scale;
		scale *= 32;
		if (digit < 32) {
			all.push(n);
			n = 0;
			scale = 1;
		}
	}
	return all;
}

/* Likewise, of numbers that may be below zero: odd ones are. */
function signedOf(packed) {
	return typeof packed !== "string" ? packed || [] : numbersOf(packed).map(n => n % 2 ? -(n + 1) / 2 : n / 2);
}
